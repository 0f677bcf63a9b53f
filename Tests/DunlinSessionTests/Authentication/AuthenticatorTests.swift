import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

/// A server that accepts its newest token alone.
private final class TokenServer: Sendable {
    private struct State {
        var newest = 0
        var grants = 0
        var refusesGrants = false
        var refusesAll = false
    }

    private let state = Mutex(State())
    /// Opened to let grants come.
    let gate = LoopbackServer.Gate()

    var grants: Int { state.withLock { $0.grants } }
    func expire() { state.withLock { $0.newest += 1 } }
    func refuseGrants(_ refuses: Bool = true) { state.withLock { $0.refusesGrants = refuses } }
    func refuseAll(_ refuses: Bool = true) { state.withLock { $0.refusesAll = refuses } }

    func answer(_ request: MockTransport.RecordedRequest) -> MockTransport.Outcome {
        state.withLock { state in
            if request.path == "/token" {
                state.grants += 1
                if state.refusesGrants { return .respond(500) }
                #expect(request.fields["Authorization"] == nil)
                return .respond(body: "\(state.newest)")
            }
            if request.path == "/away" { return .respond(302, fields: ["Location": "http://other.test/"]) }
            let isRight = request.fields["Authorization"] == "Bearer \(state.newest)"
            return isRight && !state.refusesAll ? .respond(body: "in") : .respond(401, body: "out")
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A session with an authenticator` {
    private static func scene(
        _ first: HTTPSession.BearerToken? = nil, clock: ManualClock? = nil, lifetime: Duration? = nil,
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> (server: TokenServer, mock: Mocked) {
        let server = TokenServer()
        let mock = try Mocked {
            $0.authentication = .bearer(first, refreshTimeout: .seconds(1000)) { client in
                try await server.gate.opened()
                return .init(try await client.post("/token", as: .string).value, lifetime: lifetime)
            }
            if let clock { try $0.use(clock) }
            try change(&$0)
        }
        server.gate.open()
        mock.transport.otherwise { server.answer($0) }
        return (server, mock)
    }

    @Test func `a token is fetched before the first request, and sent with all requests`() async throws {
        let (server, mock) = try Self.scene()
        for _ in 0..<3 { #expect(try await mock.session.get("x", as: .string).value == "in") }
        #expect(server.grants == 1)
        #expect(mock.transport.requests.map(\.path) == ["/token", "/x", "/x", "/x"])
    }

    @Test(.rows("OP-9"), .rules("9110-15.5.2-1"))
    func `a refused request is sent again with a new token, its body too`() async throws {
        let (server, mock) = try Self.scene("0")
        #expect(try await mock.session.get("x", as: .string).value == "in")
        server.expire()
        let response = try await mock.session.post("x", body: .string("all of it"), as: .string)
        #expect(response.value == "in")
        #expect(mock.transport.requests.last?.body == "all of it")
        #expect(server.grants == 1)
    }

    @Test func `two hundred requests that meet an expired token cause one refresh`() async throws {
        let (server, mock) = try Self.scene("0")
        #expect(try await mock.session.get("x", as: .string).value == "in")
        for round in 1...3 {
            server.expire()
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<200 { group.addTask { try await mock.session.get("x", as: .string).value } }
                for try await text in group { #expect(text == "in") }
            }
            #expect(server.grants == round)
        }
    }

    @Test func `a token that the server keeps refusing is not fetched again and again`() async throws {
        let (server, mock) = try Self.scene("0", clock: ManualClock())
        server.refuseAll()
        for count in 0..<5 {
            let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
            #expect(error?.code == .unacceptableStatus && error?.response?.status == 401)
            #expect(error?.refreshRefusal == (count == 0 ? .neverAccepted : .resting))
            let remedy = count == 0 ? "and its permissions" : "it lasts 1 to 60 seconds"
            let text = error.map { "\($0)" } ?? ""
            #expect(text.contains("no further credential was fetched: ") && text.hasSuffix(remedy), "\(text)")
        }
        #expect(server.grants == 1)
    }

    @Test(arguments: [true, false])
    func `the error of a 401 says why no other token was fetched, and the error of another status does not`(
        isStreamed: Bool
    ) async throws {
        let (server, mock) = try Self.scene("0", clock: ManualClock())
        server.refuseAll()
        let error = try await networkError {
            guard isStreamed else { return _ = try await mock.session.get("x", as: .string) }
            try await mock.session.withResponse(from: "x") { for try await _ in $0.lines {} }
        }
        #expect(error?.refreshRefusal == .neverAccepted, "\(String(describing: error))")
        mock.transport.on(.get, "/gone").respond(404)
        let other = try await networkError { _ = try await mock.session.get("gone", as: .string) }
        #expect(other?.response?.status == 404 && other?.refreshRefusal == nil)
    }

    @Test func `the error of a 401 whose body is too long says why no other token was fetched`() async throws {
        let mock = try Mocked { $0.authentication = .bearer("old") { _ in .init("new") } }
        mock.transport.otherwise { _ in .respond(401, body: "too long for that") }
        var options = HTTPSession.Options()
        options.bodyLimit = 5
        let error = try await networkError { _ = try await mock.session.get("x", options: options, as: .string) }
        #expect(error?.code == .unacceptableStatus && error?.refreshRefusal == .neverAccepted)
        let limit = error?.underlying as? NetworkError
        #expect(limit?.code == .limitExceeded && limit?.refreshRefusal == nil)
    }

    @Test(arguments: [(true, 503), (true, 500), (false, 503)] as [(Bool, HTTP.Status)])
    func `a retry policy looks at what a refresh was answered with`(
        isCovered: Bool, status: HTTP.Status
    ) async throws {
        let clock = ManualClock()
        let mock = try Mocked {
            $0.authentication = .bearer("old") { client in .init(try await client.post("/token", as: .string).value) }
            $0.retry = .constant(
                attempts: 2, every: .seconds(2), when: isCovered ? [.status(503)] : [.timeout], budget: .unlimited)
            try $0.use(clock)
        }
        mock.transport.on(.post, "/token").respond(status).thenRespond(body: "new")
        mock.transport.otherwise { request in
            request.fields["Authorization"] == "Bearer new" ? .respond(body: "in") : .respond(401)
        }
        let error = try await clock.skippingWaits {
            try await networkError { _ = try await mock.session.get("x", as: .string) }
        }
        let isRight = isCovered && status == 503
        #expect(error?.code == (isRight ? nil : .authenticationFailed))
        #expect(mock.transport.requests.count == (isRight ? 4 : 2))
    }

    @Test func `an attempt during the pause after a failed refresh counts as an attempt, though nothing is sent`()
        async throws
    {
        let (server, mock) = try Self.scene("old", clock: ManualClock()) {
            $0.retry = .constant(attempts: 3, every: .zero, when: [.status(500)], budget: .unlimited)
        }
        server.refuseGrants()
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.code == .authenticationFailed && error?.refreshRefusal == .resting)
        #expect(error?.attempts == 3 && error?.retryRefusal == .attemptsSpent)
        #expect(server.grants == 1)
    }

    @Test func `a refresh that fails is the error of all who wait, with its cause, and is not repeated at once`()
        async throws
    {
        let clock = ManualClock()
        let (server, mock) = try Self.scene("old", clock: clock)
        server.refuseGrants()
        for _ in 0..<5 {
            let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
            #expect(error?.code == .authenticationFailed && error?.isSafeToRetry == true)
            #expect((error?.underlying as? NetworkError)?.response?.status == 500)
            #expect(error?.request?.url == "http://api.test/x")
        }
        #expect(server.grants == 1)
        server.refuseGrants(false)
        try await clock.advance(by: .seconds(1))
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(server.grants == 2)
    }

    @Test func `a token that is about to expire is refreshed early, and requests do not wait for that`() async throws {
        let clock = ManualClock()
        let (server, mock) = try Self.scene(clock: clock, lifetime: .seconds(100)) { $0.use(SeededGenerator(seed: 1)) }
        #expect(try await mock.session.get("x", as: .string).value == "in")
        try await clock.advance(by: .seconds(95))
        #expect(try await mock.session.get("x", as: .string).value == "in")
        try await eventually("it was got ahead") { server.grants == 2 }
        try await clock.advance(by: .seconds(10))
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(server.grants == 2)
    }

    @Test func `a token stays with its origin`() async throws {
        let (_, mock) = try Self.scene("0")
        mock.transport.on("another", where: { $0.origin.host == "other.test" }).respond(body: "there").always()
        #expect(try await mock.session.get("away", as: .string).value == "there")
        #expect(try await mock.session.get(url: "http://other.test/x", as: .string).value == "there")
        let elsewhere = mock.transport.requests.filter { $0.origin.host == "other.test" }
        #expect(elsewhere.count == 2 && elsewhere.allSatisfy { !$0.fields.contains("authorization") })
    }

    @Test func `credentials of a request's own are sent instead`() async throws {
        let (server, mock) = try Self.scene("0")
        for options in [
            HTTPSession.Options(fields: ["Authorization": "own"]), .init(credentials: .bearer(token: "mine")),
            .init(credentials: .none),
        ] {
            let error = try await networkError { _ = try await mock.session.get("x", options: options, as: .string) }
            #expect(error?.response?.status == 401)
        }
        #expect(mock.transport.requests.map { $0.fields["Authorization"] } == ["own", "Bearer mine", nil])
        #expect(server.grants == 0)
    }

    @Test func `a retry goes with the newest token`() async throws {
        let (server, mock) = try Self.scene("0") { $0.retry = .constant(attempts: 2, every: .zero) }
        let hasFailed = Mutex(false)
        mock.transport.otherwise { request in
            let isFirst = hasFailed.withLock { failed in
                defer { failed = true }
                return !failed
            }
            if isFirst { server.expire() }
            return isFirst ? .respond(503) : server.answer(request)
        }
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(server.grants == 1)
        #expect(
            mock.transport.requests.compactMap { $0.fields["Authorization"] } == ["Bearer 0", "Bearer 0", "Bearer 1"])
    }

    @Test func `a body that can be sent once is not sent again, and that is said`() async throws {
        let (_, mock) = try Self.scene("old")
        let error = try await mock.errorOfBodySentOnce()
        #expect(error?.code == .bodyNotReplayable && error?.response?.status == 401)
    }

    @Test(arguments: [true, false])
    func `a request that is cancelled leaves, and the refresh goes on`(allLeave: Bool) async throws {
        let (isRefreshing, mayEnd) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let count = Mutex(0)
        let mock = try Mocked {
            $0.authentication = .bearer(refreshTimeout: .seconds(1000)) { _ in
                count.withLock { $0 += 1 }
                isRefreshing.open()
                try await mayEnd.opened()
                return "0"
            }
        }
        mock.transport.otherwise { _ in .respond(body: "in") }
        let waiters = (0..<3).map { _ in Task { try await mock.session.get("x", as: .string).value } }
        try await isRefreshing.opened()
        try await eventually("all wait") { await mock.session.tasks.count == 3 }
        for waiter in waiters.dropLast(allLeave ? 0 : 1) {
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
        }
        mayEnd.open()
        if !allLeave { #expect(try await waiters[2].value == "in") }
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(count.withLock { $0 } == 1)
    }

    /// A form that a person fills in, for example.
    @Test func `a refresh that ignores cancellation ends at its limit, and a token that it brings later is used`()
        async throws
    {
        let (clock, form) = (ManualClock(), AsyncStream<Void>.makeStream())
        let mock = try Mocked {
            $0.authentication = .bearer(refreshTimeout: .seconds(20)) { _ in
                await Task.detached { for await _ in form.stream { break } }.value
                return "late"
            }
            try $0.use(clock)
        }
        mock.transport.otherwise { _ in .respond(body: "in") }
        async let failure = networkError { _ = try await mock.session.get("x", as: .string) }
        try await clock.waitForDeadlines(2)
        try await clock.advance(by: .seconds(20))
        #expect(try await failure?.code == .authenticationFailed)
        form.continuation.yield(())
        try await eventually("it came") {
            let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
            return error == nil
        }
        #expect(mock.transport.requests.last?.fields["authorization"] == "Bearer late")
    }

    @Test func `a restarted session goes on with the newest token`() async throws {
        let (server, mock) = try Self.scene("old")
        #expect(try await mock.session.get("x", as: .string).value == "in")
        await mock.session.restart()
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(server.grants == 1)
    }

    @Test func `a task that a refresh leaves running sends the token again`() async throws {
        let late = LoopbackServer.Gate()
        let seen = Mutex<String?>(nil)
        let mock = try Mocked {
            $0.authentication = .bearer(refreshTimeout: .seconds(1000)) { client in
                Task {
                    try await late.opened()
                    _ = try await client.get("left", as: .string)
                }
                return "t"
            }
        }
        mock.transport.otherwise { request in
            if request.path == "/left" { seen.withLock { $0 = request.fields["authorization"] ?? "none" } }
            return .respond()
        }
        _ = try await mock.session.get("x")
        late.open()
        try await eventually("it was asked") { seen.withLock { $0 } != nil }
        #expect(seen.withLock { $0 } == "Bearer t")
    }

    @Test func `a refresh has a limit of its own, and so has a request that waits for it`() async throws {
        let (clock, never) = (ManualClock(), LoopbackServer.Gate())
        let mock = try Mocked {
            $0.authentication = .bearer(refreshTimeout: .seconds(20)) { _ in
                try await never.opened()
                return "never"
            }
            try $0.use(clock)
        }
        for (limit, code) in [(Duration.seconds(5), NetworkError.Code.timedOut), (.seconds(30), .authenticationFailed)]
        {
            async let failure = networkError {
                _ = try await mock.session.get("x", timeout: limit, as: .string)
            }
            try await clock.waitForDeadlines(2)
            try await clock.advance(by: min(limit, .seconds(20)))
            let error = try await failure
            #expect(error?.code == code)
            #expect(error?.limit == (code == .timedOut ? limit : nil))
            if code == .timedOut { continue }
            let cause = error?.underlying as? NetworkError
            #expect(cause?.code == .timedOut && cause?.exceeded == nil && cause?.limit == .seconds(20))
            #expect(cause?.reason.contains("`refreshTimeout` is 20.0 s") == true)
        }
        #expect(mock.transport.requests.isEmpty)
    }

    @Test func `a refresh waits in no queue that waits for it`() async throws {
        let (_, mock) = try Self.scene("old") {
            $0.queue.running = 1
        }
        #expect(try await mock.session.get("x", as: .string).value == "in")
    }

    @Test func `an authentication without a base URL, or beside other credentials, is refused`() throws {
        let authentication = HTTPSession.Authentication.bearer { _ in "t" }
        let wrong: [(String?, (inout HTTPSession.Configuration) -> Void)] = [
            (nil, { _ in }), ("http://u:p@api.test", { _ in }),
            ("http://api.test", { $0.credentials = .bearer(token: "x") }),
            ("http://api.test", { $0.fields["Authorization"] = "x" }),
            ("http://api.test", { $0.originFields["Authorization"] = "x" }),
        ]
        for (base, change) in wrong {
            let error = #expect(throws: NetworkError.self) {
                try Mocked(base) {
                    $0.authentication = authentication
                    change(&$0)
                }
            }
            #expect(error?.code == .invalidConfiguration)
        }
        let session = try Mocked { $0.authentication = authentication }.session
        #expect(throws: NetworkError.self) { try session.replace(credentials: .bearer(token: "x")) }
        #expect(throws: NetworkError.self) { try session.replace(originFields: ["Authorization": "x"]) }
    }

    @Test func `no description shows a secret`() throws {
        struct Secretive: HTTPSession.Authenticator {
            let secret = "s3cret"
            func fields(for credential: String) -> Fields { [:] }
            func refresh(_ stale: String?, using client: HTTPSession) -> String { "" }
        }
        let mock = try Mocked { $0.authentication = .by(Secretive()) }
        var text = "\(HTTP.Credentials.password(user: "u", password: "s3cret"))"
        for shown: Any in [mock.session, mock.session.configuration, HTTPSession.BearerToken("s3cret")] {
            dump(shown, to: &text)
            text += "\(shown)"
        }
        #expect(!text.contains("s3cret"))
    }
}
