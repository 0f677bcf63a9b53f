import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

/// What stands between calls and their transport, and in which order.
@Suite(.timeLimit(.minutes(10))) struct `A chain` {
    private static func stages(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> [String] {
        var configuration = HTTPSession.Configuration(baseURL: "http://example.test")
        configuration.transport = MockTransport()
        change(&configuration)
        return try HTTPSession(configuration).tasks.chain.stages.map { "\(type(of: $0))" }
    }

    @Test func `a chain has the stages that any request may ask for, in their order`() throws {
        #expect(
            try Self.stages() == [
                "RedirectStage", "ProvenanceStage", "ConnectivityStage", "ResendStage", "PasswordStage",
            ])
    }

    @Test func `a chain has its configured stages nearest to the transport`() throws {
        let stages = try Self.stages { configuration in
            configuration.cookies = CookieJar()
            configuration.cache = HTTPSession.Cache()
            configuration.secretFields = HTTP.SecretFields(["X-Key"])
        }
        #expect(stages[2] == "CacheStage")
        #expect(Array(stages.dropFirst(6)) == ["CookieStage", "SecretFieldStage"])
    }

    /// The table of the article about interceptors, recorded.
    @Test func `what a request passes is in one order`() async throws {
        let order = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { line in order.withLock { $0.append(line) } }
        var configuration = HTTPSession.Configuration(baseURL: "http://example.test")
        let transport = MockTransport()
        transport.on(.get, "/a").respond(503).thenRespond(302, fields: ["Location": "/b"])
        transport.on(.get, "/b").respond(401).thenRespond(body: "x")
        configuration.transport = transport
        configuration.cookies = CookieJar()
        configuration.retry = .exponential(attempts: 2, base: .zero)
        configuration.hooks.retrying = { _, _ in note("retry") }
        configuration.hooks.redirect = { _ in
            note("redirect")
            return nil
        }
        configuration.authentication = .bearer("1") { _ in
            note("refresh")
            return "2"
        }
        configuration.interceptors = [
            .call { request, next in
                note("call \(request.head.fields["Authorization"] ?? "without credential")")
                return try await next(request)
            },
            .exchange { request, next in
                note("exchange \(request.head.path) \(request.head.fields["Authorization"] ?? "")")
                return try await next(request)
            },
        ]
        #expect(try await HTTPSession(configuration).get("a", as: .string).value == "x")
        #expect(
            order.withLock { $0 } == [
                "call without credential", "exchange /a Bearer 1", "retry", "exchange /a Bearer 1", "redirect",
                "exchange /b Bearer 1", "refresh", "exchange /b Bearer 2",
            ])
    }

    @Test func `a chain sees all of a call only where a setting requires it`() throws {
        let configurations: [(Bool, (inout HTTPSession.Configuration) -> Void)] = [
            (false, { _ in }), (true, { $0.cookies = CookieJar() }), (false, { $0.retry = .exponential(attempts: 2) }),
            (true, { $0.secretFields = HTTP.SecretFields(["X-Key"]) }),
            (false, { $0.authenticationHandler = { _ in .reject } }),
            (true, { $0.authentication = .bearer { _ in "token" } }),
            (false, { $0.credentials = .password(user: "a", password: "b") }),
        ]
        for (seesAll, change) in configurations {
            var configuration = HTTPSession.Configuration(baseURL: "http://example.test")
            configuration.transport = MockTransport()
            change(&configuration)
            #expect(try HTTPSession(configuration).tasks.chain.seesAll == seesAll)
        }
    }

    @Test func `a session that is restarted has another chain`() async throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://example.test")
        configuration.transport = MockTransport()
        let session = try HTTPSession(configuration)
        let before = session.tasks.chain
        await session.restart()
        #expect(session.tasks.chain !== before)
    }
}
