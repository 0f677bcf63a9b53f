import Dunlin
import DunlinSemantics
import DunlinTesting
import Mocking
import Testing

@testable import DunlinSession

@Suite struct `Secrets in what is printed` {
    private static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [String(describing: value), String(reflecting: value), "\(value)", dumped]
    }

    private static func expectNothing(in values: [Any]) {
        for value in values {
            for text in texts(of: value) {
                #expect(!text.contains("hunter2"), "\(text)")
                #expect(!text.contains("aHVudGVyMg"), "\(text)")
                // The beginning of it as numbers in lines of their own.
                #expect(!text.contains("- 104\n") || !text.contains("- 117\n"), "\(text)")
            }
        }
    }

    private static func configuration() -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration(
            baseURL: "https://user:hunter2@api.test/v1", transport: MockTransport())
        configuration.fields.append(name: "X-Api-Key", value: "hunter2")
        configuration.fields.append(name: "X-Marked", value: "hunter2", sensitive: true)
        configuration.tls.identity = .pem(.bytes("hunter2"), passphrase: "hunter2")
        return configuration
    }

    @Test func `a printed configuration, session or target shows no secret`() throws {
        var configuration = Self.configuration()
        Self.expectNothing(in: [configuration, configuration.tls])
        #expect(configuration.baseURL == "https://user:hunter2@api.test/v1")
        configuration.tls.identity = nil
        let session = try HTTPSession(configuration)
        #expect(session.description == "HTTPSession(https://api.test/v1)")
        let target = HTTP.Target("https://user:hunter2@api.test/a")
        let interpolated: HTTP.Target = "https://user:hunter2@api.test/\(1)"
        let task = try session.task(target, as: .bytes)
        Self.expectNothing(in: [session, target, interpolated, task, [target]])
        #expect(String(reflecting: target) == "\"https://api.test/a\"")
        #expect(Mirror(reflecting: configuration).children.contains { $0.label == "timeouts" })
    }

    @Test func `a printed error about a URL shows no secret`() throws {
        for url in [
            "https://user:hunter2@api.test/a b", "https://user:hunter2/x@api.test/", "ftp://user:hunter2@api.test/",
            "https://user:hunter2@api.test:0/", "//user:hunter2#@api.test", "user:hunter2@api.test",
        ] {
            #expect(!WebAddress.shown(url).contains("hunter2"), "\(url)")
            let configuration = HTTPSession.Configuration(baseURL: url, transport: MockTransport())
            let error = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
            Self.expectNothing(in: [configuration, error as Any, HTTP.Target(url)])
        }
    }

    @Test(arguments: [
        ("https://a.test/users/@me", "https://a.test/users/@me"), ("users/@me", "users/@me"), ("", ""),
        ("https://u@a.test", "https://a.test"), ("//u:p@a.test/x", "//a.test/x"), ("u:p@a.test", "***@a.test"),
        ("https://u:p/w@a.test/", "https://***@a.test/"),
        ("https://a.test/?to=b@c.test", "https://a.test/?to=b@c.test"),
        ("https//u:p@a.test/x", "https//***@a.test/x"), ("/https://u:p@a.test/x", "/https://***@a.test/x"),
    ])
    func `an address is shown without its user info`(text: String, shown: String) {
        #expect(WebAddress.shown(text) == shown)
    }

    @Test(arguments: [
        ("http://a.test/?password=a?b&page=2", "http://a.test/?password=***&page=2"),
        ("http://a.test/?password=a?b#c?d", "http://a.test/?password=***#c?d"),
        ("http://a.test/?q=1?password=a?b", "http://a.test/?q=1?password=***"),
    ])
    func `a value that is hidden reaches up to the next item or the fragment`(text: String, shown: String) {
        #expect(WebAddress.named(text) == shown)
    }

    @Test func `a saved configuration has no user info and no secret fields`() {
        let kept = HTTPSession.SavedConfiguration(Self.configuration()).configuration
        #expect(kept.baseURL == "https://api.test/v1")
        #expect(!kept.fields.contains("x-api-key"))
    }

    @Test func `the fields that a session names as secret are not shown in requests or responses`() async throws {
        let mocked = try Mocked("http://api.test") {
            $0.secretFields = ["X-Tenant"]
            $0.fields["X-Tenant"] = "hunter2"
        }
        mocked.transport.otherwise { _ in .respond(fields: ["x-tenant": "hunter2", "x-plain": "p"]) }
        var options = HTTPSession.Options(fields: ["X-Own": "o"])
        for _ in 0..<2 {
            let response = try await mocked.session.get("a", options: options, as: .bytes)
            Self.expectNothing(in: [
                response, response.head, mocked.transport.requests.map(\.fields), mocked.session.configuration.fields,
            ])
            #expect(response.head.fields["X-Tenant"] == "hunter2")
            options = HTTPSession.Options()
        }
        #expect(mocked.transport.requests.map { $0.fields["X-Tenant"] } == ["hunter2", "hunter2"])
    }
}
