import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

/// Asks as told and counts, and lets in who knows the password.
private final class Asked: Sendable {
    private let log = Mutex<[HTTPSession.AuthenticationChallenge]>([])

    var challenges: [HTTPSession.AuthenticationChallenge] { log.withLock { $0 } }

    /// The methods and realms, and how many answers were refused before.
    var words: [String] {
        challenges.map { challenge in
            guard case .protectionSpace(let space) = challenge.kind else { return "TLS" }
            return "\(space.method) \(space.realm) \(challenge.previousFailures)"
        }
    }

    func handler(
        _ answer:
            @escaping @Sendable (HTTPSession.AuthenticationChallenge) async ->
            HTTPSession.AuthenticationChallenge.Answer
    ) -> HTTPSession.AuthenticationHandler {
        { challenge in
            self.log.withLock { $0.append(challenge) }
            return await answer(challenge)
        }
    }
}

private struct OwnError: Error, Equatable {}

@Suite(.timeLimit(.minutes(10))) struct `An authentication handler and a 401` {
    private static let right = HTTPSession.AuthenticationChallenge.Answer.useCredential(
        .password(user: "ada", password: "pw"))

    /// Another password each time it is asked for in a request.
    private static func wrong(
        _ challenge: HTTPSession.AuthenticationChallenge
    ) -> HTTPSession.AuthenticationChallenge.Answer {
        .useCredential(.password(user: "ada", password: "no \(challenge.previousFailures)"))
    }

    private static let digest = "Digest realm=d, nonce=n, qop=auth, algorithm=SHA-256"

    private static func isRight(_ request: MockTransport.RecordedRequest) -> Bool {
        request.fields["authorization"].map { $0 == "Basic YWRhOnB3" || $0.hasPrefix("Digest username=\"ada\"") }
            ?? false
    }

    private static func mocked(
        _ challenges: String = "Basic realm=b", base: String = "https://api.test",
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        let mock = try Mocked(base, change)
        mock.transport.otherwise { request in
            Self.isRight(request)
                ? .respond(body: request.body.isEmpty ? "in" : request.body)
                : .respond(401, fields: ["WWW-Authenticate": challenges], body: "who?")
        }
        return mock
    }

    @Test(.rows("SM-80", "SM-83"), arguments: ["Basic realm=b", digest], [true, false])
    func `a hook's answer is sent, with the body, and remembered for the session if it is the session's`(
        challenge: String, isSessions: Bool
    ) async throws {
        let asked = Asked()
        let handler = asked.handler { _ in Self.right }
        let mock = try Self.mocked(challenge) { if isSessions { $0.authenticationHandler = handler } }
        let options = HTTPSession.Options(authenticationHandler: isSessions ? nil : handler)
        let response = try await mock.session.post("a/x", body: .string("all of it"), options: options, as: .string)
        #expect(response.value == "all of it" && mock.transport.requests.count == 2)
        #expect(asked.words == [challenge == Self.digest ? "digest d 0" : "basic b 0"])
        let challenge = try #require(asked.challenges.first)
        #expect(challenge.origin.host == "api.test" && challenge.response?.status == 401 && challenge.proposed == nil)
        #expect(mock.transport.requests.first?.fields.contains("authorization") == false)
        let other = try await networkError { _ = try await mock.session.get("a/y", as: .string) }
        #expect(other?.response?.status == (isSessions ? nil : 401))
        #expect(mock.transport.requests.count == 3 && asked.challenges.count == 1)
        guard isSessions else { return }
        mock.session.forgetPasswords()
        #expect(try await mock.session.get("a/y", as: .string).value == "in")
        #expect(mock.transport.requests.count == 5 && asked.challenges.count == 2)
    }

    @Test(.rows("SM-83")) func `a refused answer is asked for again with the count`() async throws {
        let asked = Asked()
        let mock = try Self.mocked {
            $0.authenticationHandler = asked.handler { $0.previousFailures < 3 ? Self.wrong($0) : Self.right }
        }
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(asked.words == ["basic b 0", "basic b 1", "basic b 2", "basic b 3"])
    }

    @Test(arguments: ["Basic realm=b", digest])
    func `a hook that never knows the password is asked so often and no more`(challenge: String) async throws {
        let asked = Asked()
        let mock = try Mocked("https://api.test") { $0.authenticationHandler = asked.handler { Self.wrong($0) } }
        mock.transport.otherwise { _ in .respond(401, fields: ["WWW-Authenticate": challenge]) }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.code == .authenticationFailed && error?.response?.status == 401)
        #expect(error?.reason.contains("5 answers") == true)
        #expect(asked.challenges.map(\.previousFailures) == [0, 1, 2, 3, 4])
        #expect(mock.transport.requests.count == 6)
    }

    /// What the hook says of Digest, of Basic and of Bearer; what it was asked; how the request ended.
    @Test(
        .rows("SM-83"),
        arguments: [
            ("rrr", ["digest d 0", "basic b 0", "bearer t 0"], "401"), ("rc", ["digest d 0", "basic b 0"], "in"),
            ("c", ["digest d 0"], "in"), ("d", ["digest d 0"], "401"), ("rd", ["digest d 0", "basic b 0"], "401"),
            ("rrb", ["digest d 0", "basic b 0", "bearer t 0"], "Bearer tok"), ("x", ["digest d 0"], "cancelled"),
            ("rx", ["digest d 0", "basic b 0"], "cancelled"), ("e", ["digest d 0"], "own"),
            ("b", ["digest d 0"], "unusableCredential"), ("t", ["digest d 0"], "unusableCredential"),
            ("rrc", ["digest d 0", "basic b 0", "bearer t 0"], "unusableCredential"),
        ])
    func `a hook may turn down one challenge after the other, answer, leave it to the default, or end the request`(
        answers: String, words: [String], end: String
    ) async throws {
        let asked = Asked()
        let left = Mutex(Array(answers))
        let mock = try Mocked("https://api.test") {
            $0.authenticationHandler = asked.handler { _ in
                switch left.withLock({ $0.isEmpty ? "d" : $0.removeFirst() }) {
                case "r": .reject
                case "c": Self.right
                case "b": .useCredential(.bearer(token: "tok"))
                case "t": .useCredential(.trustDespiteRefusal)
                case "x": .cancel()
                case "e": .cancel(OwnError())
                default: .performDefault
                }
            }
        }
        let challenges = "Bearer realm=t, Basic realm=b, \(Self.digest)"
        mock.transport.otherwise { request in
            if Self.isRight(request) { return .respond(body: "in") }
            if let token = request.fields["authorization"] { return .respond(body: Bytes(token)) }
            return .respond(401, fields: ["WWW-Authenticate": challenges])
        }
        var outcome = ""
        do {
            outcome = try await mock.session.get("x", as: .string).value
        } catch let error as NetworkError {
            outcome = error.code == .unacceptableStatus ? "\(error.response?.status.code ?? 0)" : "\(error.code)"
            #expect(error.response?.status == 401 && error.requestMayHaveBeenSent)
        } catch is OwnError {
            outcome = "own"
        }
        #expect(outcome == end && asked.words == words)
    }

    @Test func `a request that a handler ends with a network error is not retried, whatever the policy`()
        async throws
    {
        let asked = Asked()
        let mock = try Mocked("https://api.test") {
            $0.retry = .constant(attempts: 3, every: .zero, budget: .unlimited)
            $0.authenticationHandler = asked.handler { _ in
                .cancel(NetworkError(.connectionFailed, "no", phase: .connect, isSafeToRetry: true))
            }
        }
        mock.transport.otherwise { _ in .respond(401, fields: ["WWW-Authenticate": "Basic realm=b"]) }
        let error = try await networkError { _ = try await mock.session.get("x", as: .string) }
        #expect(error?.code == .connectionFailed && error?.attempts == 1 && error?.retryRefusal == nil)
        #expect(asked.words.count == 1 && mock.transport.requests.count == 1)
    }

    @Test func `the default is the password that is configured, which is proposed until it is refused`() async throws {
        for password in ["pw", "no"] {
            let asked = Asked()
            let mock = try Self.mocked {
                $0.credentials = .password(user: "ada", password: password)
                $0.authenticationHandler = asked.handler { $0.proposed == nil ? Self.right : .performDefault }
            }
            #expect(try await mock.session.get("x", as: .string).value == "in")
            #expect(asked.challenges.first?.proposed == .password(user: "ada", password: password))
            #expect(asked.words == (password == "pw" ? ["basic b 0"] : ["basic b 0", "basic b 0"]))
            #expect(!"\(asked.challenges)".contains(password) || password == "no")
        }
    }

    @Test func `a stale nonce is a matter of the rules and not of a hook`() async throws {
        let asked = Asked()
        let count = Mutex(0)
        let mock = try Mocked("https://api.test") { $0.authenticationHandler = asked.handler { _ in Self.right } }
        mock.transport.otherwise { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let stale = number == 2 ? ", stale=true" : ""
            return number == 3
                ? .respond(body: "in")
                : .respond(401, fields: ["WWW-Authenticate": "Digest realm=d, nonce=n\(number), qop=auth\(stale)"])
        }
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(asked.words == ["digest d 0"])
    }

    @Test func `a hook is asked about the origin that asks, and its answer stays there`() async throws {
        let asked = Asked()
        let mock = try Mocked("https://api.test") {
            $0.authenticationHandler = asked.handler { $0.origin.host == "b.test" ? Self.right : .reject }
        }
        mock.transport.otherwise { request in
            if request.path == "/go" { return .respond(302, fields: ["Location": "https://b.test/in"]) }
            if request.origin.host == "b.test", Self.isRight(request) {
                return .respond(302, fields: ["Location": "https://api.test/out"])
            }
            return .respond(401, fields: ["WWW-Authenticate": "Basic realm=b"])
        }
        let error = try await networkError { _ = try await mock.session.get("go", as: .string) }
        #expect(error?.response?.status == 401)
        #expect(asked.challenges.map(\.origin.host) == ["b.test", "api.test"])
        #expect(mock.transport.requests.map { $0.fields.contains("authorization") } == [false, false, true, false])
    }

    @Test func `a request that says itself who the user is, or that nobody does, is not asked about`() async throws {
        let asked = Asked()
        let mock = try Self.mocked { $0.authenticationHandler = asked.handler { _ in Self.right } }
        for options in [
            HTTPSession.Options(fields: ["Authorization": "own"]), .init(credentials: .none),
            .init(credentials: .bearer(token: "t")),
        ] {
            let error = try await networkError { _ = try await mock.session.get("x", options: options, as: .string) }
            #expect(error?.response?.status == 401)
        }
        #expect(asked.challenges.isEmpty && mock.transport.requests.count == 3)
    }

    @Test(arguments: [true, false])
    func `a hook that takes its time is cancelled with its request`(byDeadline: Bool) async throws {
        let (clock, isAsked, isCancelled) = (ManualClock(), LoopbackServer.Gate(), LoopbackServer.Gate())
        let mock = try Self.mocked {
            try $0.use(clock)
            $0.authenticationHandler = { _ in
                isAsked.open()
                for await _ in AsyncStream<Void>.makeStream().stream {}
                isCancelled.open()
                return Self.right
            }
        }
        let task = Task {
            try await networkError {
                _ = try await mock.session.get("x", timeout: byDeadline ? .seconds(5) : nil, as: .string)
            }
        }
        try await isAsked.opened()
        if byDeadline { try await clock.advance(by: .seconds(5)) } else { await mock.session.tasks.cancelAll() }
        try await isCancelled.opened()
        #expect(try await task.value?.code == (byDeadline ? .timedOut : .cancelled))
        #expect(mock.transport.requests.count == 1)
    }

    @Test func `a body that can be sent once is not lost in silence`() async throws {
        let mock = try Self.mocked { $0.authenticationHandler = { _ in Self.right } }
        let error = try await mock.errorOfBodySentOnce()
        #expect(error?.code == .bodyNotReplayable && error?.response?.status == 401)
    }

    @Test func `the handler is asked about a 401 that no refreshed token resolves`() async throws {
        let asked = Asked()
        let mock = try Self.mocked {
            $0.authentication = .bearer("old") { _ in "new" }
            $0.authenticationHandler = asked.handler { _ in Self.right }
        }
        #expect(try await mock.session.get("x", as: .string).value == "in")
        #expect(asked.words == ["basic b 0"])
        #expect(
            mock.transport.requests.map { $0.fields["authorization"] } == [
                "Bearer old", "Bearer new", "Basic YWRhOnB3",
            ])
    }

    @Test(.rules("9110-17.16.1-1"), arguments: ["http", "https"], HTTPSession.BasicInClearText.allCases)
    func `Basic answers in clear text only where that is allowed, and is warned of`(
        scheme: String, policy: HTTPSession.BasicInClearText
    ) async throws {
        let warnings = Mutex<[HTTPSession.SecurityWarning.Kind]>([])
        let mock = try Self.mocked(base: "\(scheme)://api.test") {
            $0.basicInClearText = policy
            $0.authenticationHandler = { _ in Self.right }
            $0.securityWarningHandler = { warning in warnings.withLock { $0.append(warning.kind) } }
        }
        let error = try await networkError {
            for _ in 0..<2 { _ = try await mock.session.get("x", as: .string) }
        }
        let isClear = scheme == "http"
        #expect(error?.code == (isClear && policy != .allowed ? .clearTextRefused : nil))
        #expect(warnings.withLock { $0 } == (isClear && policy == .allowed ? [.passwordInClearText] : []))
    }
}
