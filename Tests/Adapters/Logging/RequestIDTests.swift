import Dunlin
import DunlinLogging
import DunlinTesting
import InMemoryLogging
import Logging
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The id of a request` {
    private func logged(
        _ level: Logger.Level = .info, field: String = "X-Request-ID",
        configure: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Logged {
        let logged = try Logged(level, { $0.requestIDField = field }, configure: configure)
        logged.transport.otherwise { _ in .respond() }
        return logged
    }

    private func sent(_ logged: Logged, _ field: String = "X-Request-ID") -> [String?] {
        logged.transport.requests.map { $0.fields[field] }
    }

    @Test func `none is sent unless asked`() async throws {
        let logged = try Logged()
        logged.transport.otherwise { _ in .respond() }
        try await withLogger(mergingMetadata: ["request.id": "abc"]) { _ in _ = try await logged.session.get("a") }
        #expect(logged.transport.requests[0].fields["X-Request-ID"] == nil && logged.last?[.requestID] == nil)
    }

    @Test func `a request of a task without one gets one of its own`() async throws {
        let logged = try logged()
        for _ in 0..<2 { try await logged.session.get("a") }
        let ids = sent(logged).compactMap(\.self)
        #expect(
            Set(ids).count == 2 && ids.allSatisfy { $0.utf8.count == 32 && UInt64($0.prefix(16), radix: 16) != nil })
        #expect(logged.log.entries.map { $0[.requestID] } == ids)
    }

    @Test(arguments: [("request.id", "X-Request-ID"), ("request-id", "x-correlation-id"), ("hb.request.id", "Trace")])
    func `that of the request that the task answers is passed on`(key: String, field: String) async throws {
        let logged = try logged(field: field)
        try await withLogger(mergingMetadata: [key: "Root=1-67891233:ab_c.d"]) { _ in
            _ = try await logged.session.get("a")
            _ = try await logged.session.get("b")
        }
        #expect(sent(logged, field) == ["Root=1-67891233:ab_c.d", "Root=1-67891233:ab_c.d"])
        #expect(logged.last?[.requestID] == "Root=1-67891233:ab_c.d")
    }

    @Test(arguments: [
        "", "a b", "a\r\nX-Evil: 1", "a\"b", "ä", "a\u{301}", "\u{202E}abc", "a,b", "<script>", "a;b",
        String(repeating: "a", count: 65),
    ])
    func `one that a peer made up is replaced`(id: String) async throws {
        let logged = try logged()
        try await withLogger(mergingMetadata: ["request.id": "\(id)", "request-id": ["a", "b"]]) { _ in
            _ = try await logged.session.get("a")
        }
        let made = try #require(sent(logged)[0])
        #expect(made.utf8.count == 32 && made != id)
        #expect(logged.last?[.requestID] == made)
    }

    @Test func `the caller's own field wins, and is logged if it is harmless`() async throws {
        let logged = try logged()
        try await logged.session.get("a", fields: ["x-request-id": "mine"])
        try await logged.session.get("a", fields: ["x-request-id": "mine, and more of it"])
        #expect(sent(logged) == ["mine", "mine, and more of it"])
        #expect(logged.log.entries.map { $0[.requestID] } == ["mine", nil])
    }

    @Test func `each attempt has the same one, and another origin has none`() async throws {
        let logged = try Logged(.info, { $0.requestIDField = "X-Request-ID" }) {
            $0.retry = .constant(attempts: 2, every: .zero)
        }
        logged.transport.on(.get, "/v1/a").respond(503)
            .thenRespond(302, fields: ["Location": "http://other.test/b"])
        logged.transport.on(.get, "/b").respond()
        try await logged.session.get("a")
        let ids = sent(logged)
        #expect(ids.count == 3 && ids[0] != nil && ids[0] == ids[1] && ids[2] == nil)
        #expect(logged.last?[.attempts] == "2" && logged.last?[.requestID] == ids[0])
    }

    @Test func `it is sent although nothing is logged`() async throws {
        let logged = try logged(.critical)
        try await logged.session.get("a")
        #expect(sent(logged)[0]?.utf8.count == 32 && logged.log.entries.isEmpty)
    }

    @Test(arguments: [
        "", "X Request", "Authorization", "X-Session-Token", "X-Täg", "a\r\nb", "ticket", "Range", "referer", "Accept",
        "Sec-Id", "If-Match", "Via",
    ])
    func `a field that is no name, a secret's, or not to be added is refused with a warning`(name: String) async throws
    {
        let logged = try logged(field: name) { $0.secretFields = ["ticket"] }
        #expect(logged.log.entries.map(\.level) == [.warning])
        let shown = name == "a\r\nb" ? "a\\u{D}\\u{A}b" : name
        #expect(logged.log.entries.first.map { "\($0.message)" }?.hasPrefix("requestIDField is \"\(shown)\"") == true)
        try await logged.session.get("a")
        #expect(logged.log.entries.count == 2 && logged.last?[.requestID] == nil)
    }
}
