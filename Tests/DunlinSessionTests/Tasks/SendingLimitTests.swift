import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

/// However many reasons there are to send a call again, it ends.
@Suite(.timeLimit(.minutes(10))) struct `The limit of all sendings of a call` {
    private static func locations(_ number: Int) -> MockTransport.Outcome {
        .respond(302, fields: ["Location": "/\(number)"])
    }

    /// A session over a server that answers each request, counted from 1, by `answer`.
    private static func session(
        _ answer: @escaping @Sendable (_ number: Int) -> MockTransport.Outcome,
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        let mock = try Mocked("https://api.test", change)
        let count = Mutex(0)
        mock.transport.otherwise { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return answer(number)
        }
        return mock
    }

    /// So many redirects, and then an answer.
    private static func chain(_ count: Int) -> @Sendable (Int) -> MockTransport.Outcome {
        { $0 <= count ? locations($0) : .respond(body: "there") }
    }

    private static func error(_ mock: Mocked) async throws -> NetworkError {
        try #require(try await networkError { _ = try await mock.session.get("/", as: .bytes) })
    }

    private static func retries(_ attempts: Int) -> HTTPSession.RetryPolicy {
        .constant(attempts: attempts, every: .zero, budget: .unlimited)
    }

    @Test func `redirects, challenges and retries together end after a hundred, and the error counts each`()
        async throws
    {
        // Each request is challenged twice and then redirected; every thirtieth is told to come back.
        let mock = try Self.session { number in
            switch number % 30 {
            case 0: .respond(503)
            case let step where step % 3 == 0: Self.locations(number)
            default: .respond(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
        } _: {
            $0.retry = Self.retries(6)
            // One that has been refused is not sent again.
            let count = Mutex(0)
            $0.authenticationHandler = { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return .useCredential(.password(user: "ann", password: "\(number)"))
            }
        }
        let error = try await Self.error(mock)
        #expect(error.code == .sentTooOften)
        // Five retries may bring ten more.
        #expect(mock.transport.requests.count == 111)
        #expect(error.reason.contains("again 110 times"))
        #expect(error.attempts == 4)
        #expect(error.reason.contains("retries") && error.reason.contains("redirects"))
        #expect(error.reason.contains("answers to challenges"))
        #expect(!error.isSafeToRetry)
        #expect(await mock.session.tasks.count == 0)
    }

    @Test(arguments: [100, 150]) func `as many redirects are followed as the user allows`(limit: Int) async throws {
        let mock = try Self.session(Self.chain(limit)) {
            $0.redirects = .init(limit: limit)
        }
        #expect(try await mock.session.get("/", as: .string).value == "there")
        #expect(mock.transport.requests.count == limit + 1)
    }

    @Test func `as many attempts are made as the user allows`() async throws {
        let mock = try Self.session { _ in
            .respond(503)
        } _: {
            $0.retry = Self.retries(150)
        }
        let error = try await Self.error(mock)
        #expect(error.code == .unacceptableStatus)
        #expect(mock.transport.requests.count == 150)
    }

    @Test(arguments: [0, 1, 7]) func `the limit of sendings is a setting`(resends: Int) async throws {
        let mock = try Self.session(Self.chain(10)) { $0.limits.resends = resends }
        let error = try await Self.error(mock)
        #expect(error.code == .sentTooOften)
        #expect(error.reason.contains("again \(resends) times"))
        #expect(mock.transport.requests.count == resends + 1)
    }

    /// A stage that is asked to send again at each of very many redirects, and how its error calls that.
    struct Stage: Sendable, CustomTestStringConvertible {
        let reason: String
        var configure: @Sendable (inout HTTPSession.Configuration) -> Void = { _ in }
        /// What the first sending of each request is answered with.
        let refusal: @Sendable () -> MockTransport.Outcome

        var testDescription: String { reason }
    }

    private static func lost() -> MockTransport.Outcome {
        var error = NetworkError(
            .connectionClosed, "the server closed the connection", phase: .firstByte, requestMayHaveBeenSent: true,
            isSafeToRetry: true)
        error.connectionWasReused = true
        return .fail(error)
    }

    private static let stages = [
        Stage(reason: "lost connections") { lost() },
        Stage(
            reason: "newer credentials",
            configure: {
                let count = Mutex(0)
                $0.authentication = .bearer("0") { _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return .init("\(number)")
                }
            }
        ) { .respond(401) },
        Stage(
            reason: "answers to challenges",
            configure: {
                // One that has been refused is not sent again.
                let count = Mutex(0)
                $0.authenticationHandler = { _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return .useCredential(.password(user: "a", password: "\(number)"))
                }
            }
        ) { .respond(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""]) },
    ]

    @Test(arguments: stages) func `a stage that is asked again at each redirect comes to an end`(
        stage: Stage
    ) async throws {
        let mock = try Self.session { number in
            number % 2 == 1 ? stage.refusal() : Self.locations(number)
        } _: {
            stage.configure(&$0)
            $0.redirects = .init(limit: 1000)
            $0.limits.resends = 0
        }
        let error = try #require(
            try await networkError { _ = try await mock.session.get("/", as: .bytes) })
        #expect(error.code == .sentTooOften)
        #expect(error.reason.contains(stage.reason) && error.reason.contains("redirects"))
        // Nine hundred and eighty redirects more than usual are allowed.
        #expect(error.reason.contains("again 980 times"))
        #expect(await mock.session.tasks.count == 0)
    }

    @Test func `the limits of one request are its own`() async throws {
        let mock = try Self.session(Self.chain(130))
        var options = HTTPSession.Options()
        options.redirects = .value(HTTPSession.RedirectPolicy(limit: 140))
        #expect(try await mock.session.get("/", options: options, as: .string).value == "there")
    }

    @Test(arguments: [false, true]) func `interceptors within one another end at the limit of sendings too`(
        isExchange: Bool
    ) async throws {
        let dozen: HTTPSession.Interception.Intercept = { request, next in
            for _ in 0..<11 { _ = try await next(request) }
            return try await next(request)
        }
        let mock = try Self.session { _ in
            .respond(body: "again")
        } _: {
            $0.interceptors =
                isExchange
                ? [.exchange(dozen), .exchange(dozen)] : [.call(dozen), .call(dozen)]
        }
        let error = try await Self.error(mock)
        #expect(error.code == .sentTooOften)
        #expect(mock.transport.requests.count == 101)
        #expect(error.reason.contains("100 continuations"))
    }

    @Test func `a call that is sent a hundred times leaves the next one all of its own`() async throws {
        let mock = try Self.session(Self.chain(50)) {
            $0.redirects = .init(limit: 60)
        }
        for _ in 0..<3 { _ = try await mock.session.get("/", as: .bytes) }
        #expect(mock.transport.requests.count == 53)
    }
}
