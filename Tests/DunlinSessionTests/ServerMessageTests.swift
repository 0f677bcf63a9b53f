import Dunlin
import DunlinTesting
import Mocking
import Testing

/// What an error shows of the body of a refusal.
@Suite(.timeLimit(.minutes(10))) struct `What a server says to people` {
    private static let many = String(repeating: "é", count: 300)

    private static func description(
        _ body: String, shows: Bool = true, configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) async throws -> String {
        let mock = try Mocked {
            $0.showsRefusedBodies = shows
            configure(&$0)
        }
        mock.transport.on(.get, "/users/42").respond(404, fields: ["Content-Type": "text/x"], body: Bytes(body))
        let error = try #require(try await networkError { _ = try await mock.session.get("users/42", as: Int.self) })
        #expect(error.code == .unacceptableStatus && error.body.map(String.init(_:)) == body)
        let (named, text) = ("GET http://api.test/users/42: 404 Not Found", error.bodyText)
        #expect(error.description == named + (text.map { ": \($0)" } ?? ""))
        return text ?? ""
    }

    @Test(arguments: [
        (#"{"error":"no such user","token":"hunter2","n":1}"#, #"{"error":"no such user"}"#),
        (
            #" {"type":"https://a.test/e","title":"Not Found","status":404,"detail":"no/such user","instance":"x"}"#,
            #"{"title":"Not Found","detail":"no/such user"}"#
        ),
        (#"{"error":"invalid","error_description":"expired"}"#, #"{"error":"invalid","error_description":"expired"}"#),
        (#"{"message":"two\n\u001b[2Jlines"}"#, #"{"message":"two [2Jlines"}"#),
        (#"{"error":{"message":"inner","code":7},"message":{"message":"x"}}"#, #"{"error":"inner"}"#),
        (#"{"error":{"error":"inner"}}"#, ""), (#"{"a":1}"#, ""), (#"[{"error":"x"}]"#, ""), (#"{"error":"x""#, ""),
        (#"{"error":"x","a":"\#(String(repeating: "b", count: 65_536))"}"#, ""),
        ("<p>gone</p>", ""), ("error: x", ""), ("", ""), ("\u{0}", ""), ("{", ""),
        (#"{"detail":"\#(many)"}"#, #"{"detail":"\#(many.prefix(189))…"#),
    ])
    func `an error shows what a JSON object says to people, on one line, and nothing else`(
        body: String, shown: String
    ) async throws {
        #expect(try await Self.description(body) == shown)
        #expect(try await Self.description(body, shows: false) == "")
    }

    @Test(arguments: [
        ("no key sk-live-4eC39HqLyjWDarjtT1zdp7dc here", "no key *** here"),
        ("bad eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w", "bad ***.***.***"),
        ("at https://ada:hunter2@a.test/x?token=hunter2", "at https://***@a.test/x?token=***"),
        ("password: hunter2", "password: ***"), ("pass\u{200B}word=hunter2", "password=***"),
        ("key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "key ***"),
        ("at /v1/users/abc/orders/2026/x", "at /v1/users/abc/orders/2026/x"),
        ("请在2026年1月15日之前完成您的账户验证，谢谢", "请在2026年1月15日之前完成您的账户验证，谢谢"),
        ("order 1234567890123456 is not there", "order 1234567890123456 is not there"),
        ("incomprehensibilities at 2026-01-31T23:59:59Z", "incomprehensibilities at 2026-01-31T23:59:59Z"),
    ])
    func `what has the form of a key, or a name that looks secret, is hidden`(
        said: String, shown: String
    ) async throws {
        let body = String(try DynamicValue.object(["message": .string(said)]).json())
        let text = try await Self.description(body)
        #expect(text == "{\"message\":\"\(shown)\"}")
    }

    @Test func `the message of a body that is kept in part is that of all of it, and goes with the body`()
        async throws
    {
        let mock = try Mocked { $0.limits.errorBodyBytes = 5 }
        mock.transport.on(.get, "/").respond(404, body: #"{"message":"no such user"}"#)
        var error = try #require(try await networkError { _ = try await mock.session.get("/", as: .bytes) })
        #expect(error.bodyText == #"{"message":"no such user"}"# && error.body?.count == 5)
        error.body = nil
        #expect(error.bodyText == nil && !error.description.contains("user"))
    }

    @Test func `a member that the session calls secret is not shown`() async throws {
        let text = try await Self.description(#"{"title":"a","detail":"b"}"#) { $0.secretFields = ["detail"] }
        #expect(text == #"{"title":"a"}"#)
    }

    @Test func `a proxy and a server that refuses another protocol say why, too`() async throws {
        let proxy = try LoopbackServer()
        defer { proxy.stop() }
        proxy.respond { _ in .response(403, body: #"{"message":"not there"}"#) }
        var configuration = HTTPSession.Configuration()
        configuration.proxy = .url("http://127.0.0.1:\(proxy.port)")
        let session = try HTTPSession(configuration)
        let refused = try #require(try await networkError { _ = try await session.get(url: "https://a.test/") })
        #expect(refused.code == .proxyFailed && refused.bodyText == #"{"message":"not there"}"#)
        #expect(refused.summary.contains(#"CONNECT with 403 Forbidden: {"message":"not there"}"#))
        await session.shutdown()

        let mock = try Mocked()
        mock.transport.otherwise { _ in .respond(403, body: #"{"detail":"not you"}"#) }
        let error = try #require(try await networkError { _ = try await mock.session.upgrade("x", to: "foo") })
        #expect(error.code == .upgradeRefused && error.bodyText == #"{"detail":"not you"}"#)
        #expect(error.summary.contains(#": {"detail":"not you"}"#))
    }
}
