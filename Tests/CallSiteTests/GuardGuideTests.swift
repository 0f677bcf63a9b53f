import Dunlin
import DunlinTesting
import Testing

/// The snippets of the guide to the guard, word for word.
@Suite(.timeLimit(.minutes(10))) struct `Guide to the guard` {
    private static func refusal(_ session: HTTPSession, _ url: String) async -> String? {
        await #expect(throws: NetworkError.self) { try await session.get(url: url) }?.reason
    }

    @Test func `one line guards a session against addresses that are not public`() async throws {
        let transport = MockTransport()
        var configuration = HTTPSession.Configuration(transport: transport)
        configuration.guard = .publicInternet

        let client = try HTTPSession(configuration)
        let error = await #expect(throws: NetworkError.self) { try await client.get("http://169.254.169.254/latest/") }
        #expect(
            isShown(
                try #require(error),
                as: """
                    GET http://169.254.169.254/latest/: guardRefused: refused by the guard:
                    169.254.169.254 is a cloud's metadata address (AWS, Azure, Google Cloud
                    and others); `allowedAddresses` can allow it (phase connect)
                    """), "\(error as Any)")
        #expect(transport.requests.isEmpty)
    }

    @Test func `the examples about guards with rules of their own run as written`() async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond(body: "page") }
        var configuration = HTTPSession.Configuration(transport: transport)
        configuration.guard = .publicInternet
        configuration.guard?.schemes = [.https]
        configuration.guard?.ports = [443]
        configuration.guard?.allowedAddresses = ["10.20.0.0/16"]
        configuration.guard?.deniedAddresses = ["198.51.100.7", "2001:db8::/32"]
        configuration.guard?.deniedHosts = ["*.corp.example.com"]

        let client = try HTTPSession(configuration)
        #expect(try await client.get("https://10.20.1.1/", as: .string).value == "page")
        for url in ["http://10.20.1.1/", "https://10.21.1.1/", "https://a.corp.example.com/", "https://a.test:8443/"] {
            #expect(await Self.refusal(client, url)?.hasPrefix("refused by the guard") == true)
        }
    }

    @Test func `the examples about the guard of one request run as written`() async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond(body: "page") }
        let client = try HTTPSession(.init(transport: transport))
        let link = "https://example.com/feed"
        let options = HTTPSession.Options(guard: .publicInternet)
        let page = try await client.get(url: link, options: options)

        #expect(page.value.count == 4)
        _ = try await client.get("http://127.0.0.1/")
        await #expect(throws: NetworkError.self) {
            try await client.get("http://127.0.0.1/", options: options)
        }
    }
}
