import Dunlin
import DunlinSemantics
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Secrets in what is printed` {
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

    @Test(.rules("9110-17.9-1")) func `a printed configuration, session or target shows no secret`() throws {
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

    @Test(.rules("9110-17.9-1")) func `a printed error about a URL shows no secret`() throws {
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
        ("https//u:p@\u{301}a.test/x", "https//***@\u{301}a.test/x"),
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

    /// Servers of sessions put them into paths.
    @Test(arguments: [
        ("http://a.test/cart;jsessionid=hunter2", "http://a.test/cart;jsessionid=***"),
        ("/a;v=1;SessionID=hunter2;w=2/b;x;token=hunter2?c=1;d", "/a;v=1;SessionID=***;w=2/b;x;token=***?c=1;d"),
    ])
    func `a parameter of a path is named without its secret`(text: String, shown: String) {
        #expect(WebAddress.named(text) == shown)
        #expect(WebAddress.withoutSecretsOfQuery(text, hiding: .usual) == text)
    }

    private static let encoded = [
        ("?next=http%3A%2F%2Fx%2F%3Faccess_token%3Dhunter2", "?next=***"),
        ("?next=http%3a%2f%2fx%2f%3faccess%5ftoken%3dhunter2&b=1#c", "?next=***&b=1#c"),
        ("?a=1&u=token%3Dhunter2&b=2", "?a=1&u=***&b=2"), ("?u=%3Ftoken%253Dhunter2", "?u=***"),
        ("?state=%7B%22password%22%3A%22hunter2%22%7D", "?state=***"), ("#to=%2Fcb%3Fpin%3Dhunter2", "#to=***"),
        ("?u=http%3A%2F%2Fada%3Ahunter2%40x%2F", "?u=***"),
        ("?u=http%3A//ada%3Ahunter2%40x/&b=1", "?u=http%3A//***&b=1"),
        ("?u=http%3A//ada%3Ahu/hunter2%40x/", "?u=http%3A//***"), ("?u=http://ada:hunter2@x/", "?u=http://***@x/"),
        ("?next=http%3A//x/?access_token%3Dhunter2", "?next=http%3A//x/?***"),
        ("go/https%3A%2F%2Fx%3Fpassword%3Dhunter2/y?b=1", "go/***"),
        ("?next=http%3A%2F%2Fx%2F%3Faccess_token=hunter2&b=1", "?next=***&b=1"),
        ("?next=http://x/?a=1%26access_token=hunter2", "?next=http://x/?a=***"),
        ("a;v=1/b;c?d=1", nil), ("?a%3Db=1&c%26d=2", nil),
        ("a%2Fb//c?to=b%40c.test&n=%E2%82%AC&u=http%3A//x%3A8080/%3Fq%3Dcat", nil),
    ]

    @Test(arguments: ["http://[::1]:80/", "/", "//a.test/", "http://a.test?b=1/", ""], encoded)
    func `what a URL has encoded in it is named without its secrets`(beginning: String, rest: (String, String?)) {
        #expect(WebAddress.named(beginning + rest.0) == beginning + (rest.1 ?? rest.0))
    }

    @Test func `no text that prints a request shows a secret that its query has encoded`() async throws {
        let mocked = try Mocked("http://api.test")
        mocked.transport.otherwise { _ in .respond(500) }
        let trace = mocked.session.trace(), events = mocked.session.events
        let query: HTTP.Query = [
            "redirect_uri": "https://app.test/cb?access_token=hunter2", "next": "https://ada:hunter2@app.test/",
            "state": "{\"password\":\"hunter2\"}",
        ]
        let error = try await #require(throws: NetworkError.self) {
            _ = try await mocked.session.get("a", query: query, as: .bytes)
        }
        await mocked.session.shutdown()
        var texts = ["\(error)", error.summary, try #require(error.curl())]
        for await event in trace { texts.append("\(event)") }
        for await event in events { texts.append("\(event)") }
        Self.expectNothing(in: [error] + texts)
        #expect(texts.contains { $0.contains("redirect_uri=") } && texts.count > 4)
        #expect(mocked.transport.requests.map { $0.target.contains("hunter2") } == [true])
    }

    @Test func `a stream of events shows nothing of its request`() throws {
        let mocked = try Mocked("http://api.test")
        let stream = mocked.session.events("who?token=hunter2", options: .init(fields: ["X-Api-Key": "hunter2"]))
        var dumped = ""
        dump(stream, to: &dumped)
        for text in ["\(stream)", String(reflecting: stream), dumped] { #expect(!text.contains("hunter2"), "\(text)") }
        #expect("\(stream)" == "EventStream(attempt 1)")
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

    @Test func `what an interceptor is given next shows nothing of its session, and no secret of the query`()
        async throws
    {
        let printed = Mutex<[String]>([])
        let mocked = try Mocked("http://api.test") {
            $0.credentials = .bearer(token: "hunter2")
            $0.originFields = ["X-Api-Key": "hunter2"]
            $0.fields["X-Odd"] = "odd field"
            let print: HTTPSession.Interception.Intercept = { request, next in
                printed.withLock { $0 += Self.texts(of: next) }
                return try await next(request)
            }
            $0.interceptors = [.call(print), .exchange(print)]
        }
        mocked.transport.otherwise { _ in .respond() }
        _ = try await mocked.session.get("go?api_key=hunter2&page=2", as: .bytes)
        let texts = printed.withLock(\.self)
        #expect(texts.count >= 4 && texts.contains { $0.contains("page=2") })
        for text in texts { #expect(!text.contains("hunter2") && !text.contains("odd field"), "\(text)") }
    }

    @Test func `the trailers that a session names as secret are not shown, whole or streamed`() async throws {
        let mocked = try Mocked("http://api.test") { $0.secretFields = ["X-Tenant"] }
        mocked.transport.otherwise { _ in .stream(["a"], trailers: ["X-Tenant": "hunter2", "X-Plain": "p"]) }
        let whole = try await mocked.session.get("a", as: .bytes)
        let streamed = try await mocked.session.stream("a")
        for try await _ in streamed.body {}
        for trailers in [whole.trailers, streamed.body.trailers] {
            Self.expectNothing(in: [trailers])
            #expect(trailers["X-Tenant"] == "hunter2" && trailers["X-Plain"] == "p")
        }
    }

    /// Where text of a server, or what the program asks for, gets into an error.
    @Test(arguments: ["type", "syntax", "event", "line", "redirect", "target"])
    func `no error shows the value of a name that the session says is secret`(kind: String) async throws {
        let mocked = try Mocked("http://api.test") { $0.secretFields = ["ticket"] }
        let session = mocked.session
        mocked.transport.on(.get, "/type").respond(body: #"{"ticket":"hunter2"}"#)
        mocked.transport.on(.get, "/syntax").respond(body: #"{"ticket":"hunter2"x"#)
        mocked.transport.on(.get, "/event")
            .respond(fields: ["Content-Type": "text/event-stream"], body: "data: {\"ticket\":\"hunter2\"}\n\n")
        mocked.transport.on(.get, "/line").respond(body: #"{"ticket":"hunter2"}"#)
        mocked.transport.on(.get, "/redirect").respond(302, fields: ["Location": "app://done?ticket=hunter2"])
        let thrown = try await networkError {
            switch kind {
            case "event":
                for try await _ in session.events("event", until: "end", as: [String: Int].self) {}
            case "line":
                try await session.withResponse(from: "line") { response in
                    for try await _ in response.values(of: [String: Int].self, .snakeCase) {}
                }
            case "target": _ = try await session.get("app://a.test/?ticket=hunter2", as: .bytes)
            case "redirect": _ = try await session.get("redirect", as: .bytes)
            default: _ = try await session.get(HTTP.Target(kind), as: .json([String: Int].self, .snakeCase))
            }
        }
        let error = try #require(thrown)
        #expect(!"\(error)".contains("hunter2"), "\(error)")
        #expect(!String(reflecting: error).contains("hunter2"))
    }
}
