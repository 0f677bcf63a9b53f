import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

/// Answers of hooks that concern more than one request, or must not.
@Suite(.timeLimit(.minutes(10))) struct `An authentication handler of many requests` {
    private typealias Answer = HTTPSession.AuthenticationChallenge.Answer

    private static let right = Answer.useCredential(.password(user: "ada", password: "pw"))
    private static let wrong = Answer.useCredential(.password(user: "eve", password: "pw"))
    private static let basic = "Basic realm=b"
    private static let digest = "Digest realm=d, nonce=n, qop=auth, algorithm=SHA-256"

    private static func isRight(_ request: MockTransport.RecordedRequest) -> Bool {
        request.fields["authorization"].map { $0 == "Basic YWRhOnB3" || $0.hasPrefix("Digest username=\"ada\"") }
            ?? false
    }

    private static func mocked(
        _ challenges: String = basic, base: String = "https://api.test",
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        let mock = try Mocked(base, change)
        mock.transport.otherwise { request in
            Self.isRight(request)
                ? .respond(body: "in") : .respond(401, fields: ["WWW-Authenticate": challenges], body: "who?")
        }
        return mock
    }

    private static func authorized(_ mock: Mocked) -> [Bool] {
        mock.transport.requests.map { $0.fields.contains("authorization") }
    }

    /// Returns what the configured password would answer.
    private static let proposing: HTTPSession.AuthenticationHandler = { challenge in
        challenge.proposed.map { .useCredential($0) } ?? .performDefault
    }

    // MARK: Whose password it is

    @Test(arguments: [basic, digest])
    func `a hook that returns what a request's own password would answer keeps it from the session`(
        challenge: String
    ) async throws {
        let mock = try Self.mocked(challenge) { $0.authenticationHandler = Self.proposing }
        let own = HTTPSession.Options(credentials: .password(user: "ada", password: "pw"))
        #expect(try await mock.session.get("x", options: own, as: .string).value == "in")
        #expect(try await mock.session.get(url: "https://ada:pw@api.test/x", as: .string).value == "in")
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.response?.status == 401)
        #expect(mock.transport.requests.last?.fields.contains("authorization") == false)
    }

    @Test func `what the session's hook says for a request with a user of its own stays with the request`() async throws
    {
        let mock = try Self.mocked { $0.authenticationHandler = { _ in Self.right } }
        let own = HTTPSession.Options(credentials: .password(user: "eve", password: "x"))
        #expect(try await mock.session.get("x", options: own, as: .string).value == "in")
        let count = mock.transport.requests.count
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(Self.authorized(mock).dropFirst(count) == [false, true])
    }

    @Test func `a password for Digest alone is not proposed for Basic, and never answers it`() async throws {
        let proposed = Mutex<[Bool]>([])
        let mock = try Self.mocked {
            $0.credentials = .digest(user: "ada", password: "pw")
            $0.authenticationHandler = { challenge in
                proposed.withLock { $0.append(challenge.proposed != nil) }
                return Self.right
            }
        }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.code == .authenticationFailed && Self.authorized(mock) == [false])
        #expect(proposed.withLock { $0 } == [false])
    }

    @Test func `a proposed password that may go in clear text may do so when a hook returns it`() async throws {
        let mock = try Self.mocked(base: "http://api.test") {
            ($0.credentials, $0.basicInClearText) = (.password(user: "ada", password: "pw"), .allowed)
            $0.authenticationHandler = Self.proposing
        }
        #expect(try await mock.session.get("x", as: .string).value == "in")
    }

    // MARK: One question

    /// The words the hook says, one after the other, and how often it is asked.
    @Test(arguments: [([right], 1), ([wrong, right], 2)], [basic, digest])
    fileprivate func `two hundred requests ask one question at a time`(
        answers: ([HTTPSession.AuthenticationChallenge.Answer], Int), challenge: String
    ) async throws {
        let asks = Mutex(0)
        let transport = Mutex<MockTransport?>(nil)
        let mock = try Self.mocked(challenge) {
            $0.authenticationHandler = { _ in
                let number = asks.withLock { asks in
                    asks += 1
                    return asks
                }
                if number == 1 { _ = try? await transport.withLock { $0 }?.waitForRequests(200) }
                return answers.0[min(number, answers.0.count) - 1]
            }
        }
        transport.withLock { $0 = mock.transport }
        let values = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await mock.session.get("x", as: .string).value
                }
            }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(values.count == 200 && values.allSatisfy { $0 == "in" })
        #expect(asks.withLock { $0 } == answers.1)
    }

    @Test func `a request that waits for another's question has its own deadline, and asks if that ends`()
        async throws
    {
        let clock = ManualClock()
        let asks = Mutex(0)
        let mock = try Self.mocked {
            try $0.use(clock)
            $0.authenticationHandler = { _ in
                let number = asks.withLock { asks in
                    asks += 1
                    return asks
                }
                if number > 1 { return Self.right }
                for await _ in AsyncStream<Void>.makeStream().stream {}
                return .performDefault
            }
        }
        let first = Task {
            try await networkError { _ = try await mock.session.get("a", timeout: .seconds(20), as: .string) }
        }
        try await eventually("it is asked") { asks.withLock { $0 } == 1 }
        let second = Task {
            try await networkError { _ = try await mock.session.get("b", timeout: .seconds(5), as: .string) }
        }
        let third = Task { try await mock.session.get("c", timeout: .seconds(100), as: .string).value }
        try await mock.transport.waitForRequests(3)
        try await clock.advance(by: .seconds(6))
        #expect(try await second.value?.code == .timedOut)
        #expect(asks.withLock { $0 } == 1)
        try await clock.advance(by: .seconds(15))
        #expect(try await first.value?.code == .timedOut)
        #expect(try await third.value == "in")
        #expect(asks.withLock { $0 } == 2)
    }

    @Test(arguments: [basic, digest])
    func `a hook that says again what was refused has the response delivered`(challenge: String) async throws {
        let asks = Mutex(0)
        let mock = try Mocked("https://api.test") {
            $0.authenticationHandler = { _ in
                asks.withLock { $0 += 1 }
                return Self.wrong
            }
        }
        mock.transport.otherwise { _ in .respond(401, fields: ["WWW-Authenticate": challenge]) }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.response?.status == 401 && error?.code == .unacceptableStatus)
        #expect(asks.withLock { $0 } == 2 && mock.transport.requests.count == 2)
    }

    // MARK: What is remembered

    @Test func `a password that the server has not accepted is sent by no other request`() async throws {
        let isFirst = Mutex(true)
        let mock = try Mocked("https://api.test") { $0.authenticationHandler = { _ in Self.wrong } }
        mock.transport.otherwise { request in
            if request.fields.contains("authorization"), isFirst.withLock({ $0 }) { return .fail(.connectionReset) }
            return .respond(401, fields: ["WWW-Authenticate": Self.digest])
        }
        let options = HTTPSession.Options(retry: .never)
        _ = try await networkError { _ = try await mock.session.get("x", options: options, as: .string) }
        isFirst.withLock { $0 = false }
        let count = mock.transport.requests.count
        _ = try await networkError { _ = try await mock.session.get("x", options: options, as: .string) }
        #expect(Self.authorized(mock)[count] == false)
    }

    @Test(.rules("9110-17.16.2-1"), arguments: [basic, digest], [true, false])
    func `an answer that was on its way when passwords were forgotten is not remembered`(
        challenge: String, replaces: Bool
    ) async throws {
        let session = Mutex<HTTPSession?>(nil)
        let mock = try Mocked("https://api.test") {
            $0.credentials = .password(user: "ada", password: "pw")
        }
        session.withLock { $0 = mock.session }
        defer { session.withLock { $0 = nil } }
        let isFirst = Mutex(true)
        mock.transport.otherwise { request in
            guard Self.isRight(request) else { return .respond(401, fields: ["WWW-Authenticate": challenge]) }
            let forgets = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if forgets { session.withLock { $0 }?.forgetPasswords() }
            return .respond(body: "in")
        }
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(Self.authorized(mock) == [false, true, false, true])
    }

    @Test func `a restart keeps in mind that requests may be sent with what got in before`() async throws {
        let mock = try Self.mocked { $0.authenticationHandler = { _ in Self.right } }
        _ = try await mock.session.get("x", as: .string)
        await mock.session.restart()
        _ = try await mock.session.get("x", as: .string)
        #expect(Self.authorized(mock) == [false, true, true])
    }

    // MARK: What a hook asks for itself

    @Test func `a hook's own requests go past the queue, and ask no hook`() async throws {
        let session = Mutex<HTTPSession?>(nil)
        let asks = Mutex(0)
        let mock = try Self.mocked {
            $0.queue.running = 1
            $0.authenticationHandler = { _ in
                let number = asks.withLock { asks in
                    asks += 1
                    return asks
                }
                guard number < 3 else { return .cancel() }
                let error = try? await networkError {
                    _ = try await session.withLock { $0 }?.get("login", as: .string)
                }
                return error?.response?.status == 401 ? Self.right : .cancel()
            }
        }
        session.withLock { $0 = mock.session }
        defer { session.withLock { $0 = nil } }
        #expect(try await mock.session.get("x", timeout: .seconds(1000), as: .string).value == "in")
        #expect(asks.withLock { $0 } == 1)
    }

    // MARK: Asked in vain

    @Test func `no hook is asked for credentials that could not be sent`() async throws {
        let asks = Mutex(0)
        let handler: HTTPSession.AuthenticationHandler = { _ in
            asks.withLock { $0 += 1 }
            return Self.right
        }
        let safe = try Self.mocked { $0.authenticationHandler = handler }
        let (stream, continuation) = AsyncThrowingStream<Bytes, any Error>.makeStream()
        continuation.yield("once")
        continuation.finish()
        let error = try await networkError { _ = try await safe.session.post("x", body: .stream(stream), as: .string) }
        #expect(error?.code == .bodyNotReplayable && error?.response?.status == 401)
        let clear = try Self.mocked(base: "http://api.test") { $0.authenticationHandler = handler }
        let refusal = try await networkError { _ = try await clear.session.get("x", as: .string) }
        #expect(refusal?.code == .clearTextRefused && refusal?.response?.status == 401)
        #expect(asks.withLock { $0 } == 0)
    }
}
