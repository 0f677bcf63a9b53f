import Dunlin
import DunlinTesting
import Testing

/// The snippets of the guide to addresses, and those about sessions without a base URL, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guides to addresses` {
    /// Runs `body` with a server that answers with the request's `Host`.
    private func serving(
        _ endpoint: LoopbackServer.Endpoint = .ipv4, _ body: (LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(endpoint)
        defer { server.stop() }
        server.respond { .response(body: Bytes($0.fields["host"] ?? "none")) }
        try await body(server)
    }

    @Test func `the examples about an address for a host run as written`() async throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://api.example.com/")
        configuration.hostOverrides = [
            "api.example.com": .v4(0x7F00_0001, port: 8443),
            "cdn.example.com:8080": .v6(0, 1, port: 0),
        ]

        configuration.hostOverrides["agent.test"] = .unix("/run/agent.sock")

        let overrides = configuration.hostOverrides
        #expect(overrides["api.example.com"]?.description == "127.0.0.1:8443")
        #expect(overrides["cdn.example.com:8080"]?.description == "[::1]:0")
        #expect(overrides["agent.test"]?.description == "unix:/run/agent.sock")
        let client = try HTTPSession(configuration)
        try await serving { try await look(client, "127.0.0.1", $0.port) }
        await client.shutdown()
    }

    private func look(_ client: HTTPSession, _ address: String, _ port: UInt16) async throws {
        guard let replica = HTTP.SocketAddress(ip: address, port: port)
        else { return }
        let health = try await client.get(
            "health",
            options: .init(hostOverrides: ["api.example.com": replica]),
            as: .string)

        #expect(health.value == "api.example.com")
        #expect(health.metrics.hops.last?.peer == replica)
    }

    @Test(arguments: [
        (HTTP.SocketAddress(ip: "127.0.0.1", port: 8443), "127.0.0.1:8443"),
        (.v4(0x7F00_0001, port: 8443), "127.0.0.1:8443"), (.v6(0, 1, port: 8443), "[::1]:8443"),
        (.v6(0xFE80 << 48, 1, port: 0, scope: 2), "[fe80::1%2]:0"), (.unix("/run/api.sock"), "unix:/run/api.sock"),
        (.unix("\0api"), "unix:@api"), (HTTP.SocketAddress(ip: "localhost", port: 80), nil),
    ])
    func `an address is written as its table says`(address: HTTP.SocketAddress?, text: String?) {
        #expect(address?.description == text)
    }

    @Test func `the example about a Unix socket runs as written`() async throws {
        try await serving(.abstract) { server in
            let path = server.address.host
            let daemon = try HTTPSession(baseURL: "http://localhost/") {
                $0.socketPath = path
            }
            let version = try await daemon.get("version", as: .string)

            #expect(version.value == "localhost" && version.metrics.hops.last?.peer == server.address)
            #expect(try await daemon.get("http://other.test/x", as: .string).value == "other.test")
            await daemon.shutdown()
        }
        let missing = try HTTPSession(baseURL: "http://localhost/") { $0.socketPath = "/nowhere/d.sock" }
        let error = await #expect(throws: NetworkError.self) { try await missing.get("x") }
        #expect(error?.code == .connectionFailed)
        let underlying = try #require(error?.underlying)
        #expect("\(underlying)" == "unix:/nowhere/d.sock: No such file or directory")
        await missing.shutdown()
    }

    nonisolated struct Registry: Resolver {
        var services: [String: HTTP.SocketAddress]

        func addresses(
            of host: String, port: UInt16
        ) async throws -> [HTTP.SocketAddress] {
            services[host].map { [$0] } ?? []
        }
    }

    @Test func `the examples about names and socket options run as written`() async throws {
        try await serving { server in
            let services = ["users.test": server.address]
            var configuration = HTTPSession.Configuration()
            configuration.resolver = Registry(services: services)

            configuration.sockets.keepAlive = .init(idle: .seconds(30))
            configuration.sockets.userTimeout = .seconds(20)

            let client = try HTTPSession(configuration)
            #expect(try await client.get("http://users.test/x", as: .string).value == "users.test")
            let error = await #expect(throws: NetworkError.self) { try await client.get("http://posts.test/x") }
            #expect(error?.code == .nameNotResolved)
            await client.shutdown()
        }
    }

    @Test func `the examples about a session without a base URL run as written`() async throws {
        let (transport, link) = (MockTransport(), "https://api.test/users")
        transport.on(.get, "/feed.json").respond(body: "{}")
        transport.otherwise { _ in .respond(json: [User]()) }
        do {
            let client = try HTTPSession()

            #expect(client.configuration.baseURL == nil)
        }
        let client = try HTTPSession { $0.transport = transport }
        let feed = try await client.get(
            "https://blog.example.com/feed.json", as: .string)
        let linked = try await client.get(url: link, as: [User].self)

        #expect(feed.value == "{}" && linked.isEmpty)
        #expect(transport.requests.map(\.origin.host) == ["blog.example.com", "api.test"])
        let relative = await #expect(throws: NetworkError.self) { try await client.get("users") }
        #expect(relative?.code == .invalidRequest)
        let settings = #expect(throws: NetworkError.self) {
            try HTTPSession { $0.credentials = .bearer(token: "t") }
        }
        #expect(settings?.code == .invalidConfiguration)
    }
}
