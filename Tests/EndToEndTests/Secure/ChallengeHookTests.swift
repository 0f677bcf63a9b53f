import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

private struct OwnError: Error, Equatable {}

@Suite(.timeLimit(.minutes(10)))
struct `A session's authentication handler` {
    static let versions: [LoopbackServer.TLS.Version] = [.v1_2, .v1_3]

    /// A server that nobody knows.
    static let stranger = SecureStage.Scene(host: "127.0.0.1") { _ in
        try CertificateAuthority().issue(.server("127.0.0.1"))
    }

    @Test(.rules("9110-4.3.4-4"), arguments: versions)
    func `an authentication handler can trust a server despite its refusal, which is warned of once`(
        version: LoopbackServer.TLS.Version
    ) async throws {
        let warnings = Mutex<[HTTPSession.SecurityWarning]>([])
        let hook = Hook.trusting
        try await SecureStage.with(
            Self.stranger, tls: { tls, _ in tls.versions = version...version },
            configure: { configuration, _ in
                configuration.authenticationHandler = hook.hook
                configuration.securityWarningHandler = { warning in warnings.withLock { $0.append(warning) } }
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x").closingAfter }
            for _ in 0..<3 { #expect(try await stage.session.get("x", as: .string).value == "x") }
            #expect(hook.questions == "rrr", "nothing is resumed that only the hook believed")
            let told = warnings.withLock { $0 }
            #expect(told.map(\.kind) == [.refusedServerWasTrusted])
            #expect(told.first?.host == "127.0.0.1")
            #expect(told.first?.reason.contains("unknown issuer") == true)
        }
    }

    @Test(arguments: versions)
    func `trust given by an authentication handler does not last beyond its connection`(
        version: LoopbackServer.TLS.Version
    )
        async throws
    {
        let believes = Mutex(true)
        let hook = Hook { _ in believes.withLock { $0 } ? .useCredential(.trustDespiteRefusal) : .performDefault }
        try await SecureStage.with(
            Self.stranger, tolerating: true, tls: { tls, _ in tls.versions = version...version },
            configure: { configuration, _ in configuration.authenticationHandler = hook.hook }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x").closingAfter }
            _ = try await stage.session.get("x", as: .string)
            believes.withLock { $0 = false }
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .string) }
            #expect(error.trustRefusal?.reason == .unknownIssuer)
            let failure = try #require(error.underlying as? HTTPSession.ServerTrustFailure)
            #expect(failure.failingURL == "\(stage.server.baseURL)/x")
            #expect(hook.questions == "rr")
        }
    }

    @Test(.rows("SP-20"))
    func `an authentication handler is asked about a resumed TLS session, not about a reused connection`()
        async throws
    {
        let hook = Hook { _ in .performDefault }
        try await SecureStage.with(configure: { configuration, _ in configuration.authenticationHandler = hook.hook }) {
            (stage: SecureStage) async throws in
            stage.server.enqueue(.response(), .response(), .response(), .response().closingAfter)
            stage.server.respond { _ in .response() }
            for index in 0..<5 {
                let attempt = try #require(try await stage.session.get("x", as: .bytes).metrics.hops.last)
                #expect(hook.questions == (index < 4 ? "b" : "bb"))
                #expect(attempt.security?.isResumed == (index == 4))
            }
            guard case .serverTrust(.accepted(let path)) = try #require(hook.asked.last).kind else { return }
            #expect(path.map(\.der) == [stage.cast.issued.der, stage.authority.certificate.der])
            #expect(hook.asked.allSatisfy { $0.origin.host == "127.0.0.1" && $0.origin.port == stage.server.port })
        }
    }

    /// What the hook says, what becomes of the request, and how many handshakes the server saw.
    @Test(
        .rows("SM-43"),
        arguments: [
            (HTTPSession.AuthenticationChallenge.Answer.reject, NetworkError.Code.serverTrustFailed),
            (.cancel(), .cancelled),
            (.useCredential(.identity(.pem("me.pem"))), .unusableCredential), (.cancel(OwnError()), nil),
        ] as [(HTTPSession.AuthenticationChallenge.Answer, NetworkError.Code?)], versions)
    func `an authentication handler can refuse a server that the policy trusts, before anything is sent`(
        answer: (response: HTTPSession.AuthenticationChallenge.Answer, code: NetworkError.Code?),
        version: LoopbackServer.TLS.Version
    ) async throws {
        let hook = Hook { _ in answer.response }
        try await SecureStage.with(
            tolerating: true,
            tls: { tls, _ in
                tls.versions = version...version
                tls.clientCertificate = .requested
            },
            configure: { configuration, cast in
                configuration.authenticationHandler = hook.hook
                configuration.tls.identity = try .pem(.bytes(Bytes(cast.issued.chainPEM + cast.issued.privateKeyPEM)))
            }
        ) { (stage: SecureStage) async throws in
            if let code = answer.code {
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.code == code)
                #expect(error.phase == .tls)
                #expect(!error.requestMayHaveBeenSent && error.isSafeToRetry)
                if code == .serverTrustFailed { #expect(error.trustRefusal?.reason == .refusedByHook) }
            } else {
                await #expect(throws: OwnError.self) { _ = try await stage.session.get("x", as: .bytes) }
            }
            try await stage.server.wait { $0.failures == 1 && $0.open == 0 }
            #expect(stage.server.handshakes.isEmpty && stage.server.requests.isEmpty)
            #expect(hook.questions == "b", "who is not believed is shown nothing")
            #expect(stage.session.connections.open == 0)
        }
    }

    @Test func `a request that is asked who it is ends with the hook's own error, and is not tried again`() async throws
    {
        let hook = Hook { if case .clientCertificate = $0.kind { .cancel(OwnError()) } else { .performDefault } }
        try await SecureStage.with(
            tolerating: true, tls: { tls, _ in tls.clientCertificate = .requested },
            configure: { configuration, _ in
                (configuration.authenticationHandler, configuration.retry) = (
                    hook.hook, .constant(attempts: 3, every: .zero)
                )
            }
        ) { (stage: SecureStage) async throws in
            await #expect(throws: OwnError.self) { _ = try await stage.session.get("x", as: .bytes) }
            #expect(hook.questions == "bc" && stage.server.requests.isEmpty && stage.session.connections.open == 0)
        }
    }

    @Test(.rows("SP-19"), arguments: versions)
    func `an authentication handler can show a client certificate, or none`(version: LoopbackServer.TLS.Version)
        async throws
    {
        let authority = try CertificateAuthority()
        let client = try authority.issue(.client("Ada"))
        let shows = Mutex(true)
        let presenting = try Hook.presenting(client).hook
        let hook = Hook { challenge in
            guard case .clientCertificate = challenge.kind else { return .performDefault }
            return shows.withLock { $0 } ? await presenting(challenge) : .reject
        }
        try await SecureStage.with(
            tls: { tls, _ in
                tls.versions = version...version
                tls.clientCertificate = .requested
                tls.clientAuthorities = [authority.certificate.der]
            },
            configure: { configuration, _ in configuration.authenticationHandler = hook.hook }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response().closingAfter }
            for isShown in [true, false, true] {
                shows.withLock { $0 = isShown }
                _ = try await stage.session.get("x", as: .bytes)
                // What was agreed on without a certificate may be resumed without asking, and then shows none.
                if !isShown { try stage.session.reloadTLS() }
            }
            let shown = stage.server.requests.map { $0.handshake?.clientCertificate }
            #expect(shown == [client.der, nil, client.der])
            let issuers = hook.asked.compactMap { challenge -> [String]? in
                if case .clientCertificate(let issuers) = challenge.kind { issuers } else { nil }
            }
            #expect(issuers.allSatisfy { $0.first?.contains("Dunlin test root") == true } && issuers.count == 3)
        }
    }

    @Test func `the configured identity is shown where the authentication handler has no opinion`() async throws {
        let hook = Hook { _ in .performDefault }
        try await SecureStage.with(
            tls: { tls, _ in tls.clientCertificate = .required },
            configure: { configuration, cast in
                configuration.authenticationHandler = hook.hook
                let client = try cast.authority.issue(.client("Ada"))
                configuration.tls.identity = try .pem(.bytes(Bytes(client.chainPEM + client.privateKeyPEM)))
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            _ = try await stage.session.get("x", as: .bytes)
            #expect(stage.server.handshakes.first?.clientCertificate != nil)
            #expect(hook.questions == "bc")
        }
    }

    @Test func `an unusable identity from an authentication handler fails the request and says why`() async throws {
        let hook = Hook { challenge in
            guard case .clientCertificate = challenge.kind else { return .performDefault }
            return .useCredential(.identity(.pem("/nonexistent.pem")))
        }
        try await SecureStage.with(
            tolerating: true, tls: { tls, _ in tls.clientCertificate = .requested },
            configure: { configuration, _ in configuration.authenticationHandler = hook.hook }
        ) { (stage: SecureStage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .invalidConfiguration)
            #expect(error.reason.contains("/nonexistent.pem"), "\(error.reason)")
            try await stage.server.wait { $0.open == 0 }
            #expect(stage.server.handshakes.isEmpty && stage.server.requests.isEmpty)
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A hook that takes its time` {
    private enum Question: CaseIterable, Sendable { case trust, identity }

    /// Never answers one of the questions, and tells when it is asked.
    private static func silent(about question: Question, _ asked: LoopbackServer.Gate) -> Hook {
        Hook { challenge in
            if case .serverTrust = challenge.kind, question == .identity { return .performDefault }
            asked.open()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            return .useCredential(.trustDespiteRefusal)
        }
    }

    private static func play(
        _ question: Question, _ version: LoopbackServer.TLS.Version, clock: ManualClock? = nil,
        timeouts: Timeouts = .patient, _ play: (SecureStage, Task<Void, any Error>) async throws -> Void
    ) async throws {
        let asked = LoopbackServer.Gate()
        let hook = silent(about: question, asked)
        try await SecureStage.with(
            tolerating: true,
            tls: { tls, _ in
                tls.versions = version...version
                tls.clientCertificate = .required
            }, clock: clock,
            configure: { configuration, _ in
                configuration.authenticationHandler = hook.hook
                configuration.timeouts = timeouts
            }
        ) { (stage: SecureStage) async throws in
            let task = Task { _ = try await stage.session.get("x", as: .bytes) }
            try await asked.opened()
            #expect(stage.server.handshakes.isEmpty)
            try await play(stage, task)
            try await stage.server.wait { $0.open == 0 }
            #expect(stage.server.handshakes.isEmpty && stage.server.requests.isEmpty)
            #expect(stage.server.failures.map(\.detail) == ["the client closed the connection during the handshake"])
            #expect(stage.session.connections.open == 0)
            #expect(hook.questions == (question == .trust ? "b" : "bc"))
        }
    }

    @Test(arguments: Question.allCases, `A session's authentication handler`.versions)
    private func `a hook's answer is awaited no longer than the limit of the handshake`(
        question: Question, version: LoopbackServer.TLS.Version
    ) async throws {
        try await Self.runOut(question, version, of: .tls)
    }

    @Test(arguments: Question.allCases)
    private func `a hook's answer is awaited no longer than the limit of the whole request`(question: Question)
        async throws
    {
        try await Self.runOut(question, .v1_3, of: .total)
    }

    private static func runOut(
        _ question: Question, _ version: LoopbackServer.TLS.Version, of limit: Timeouts.Limit
    ) async throws {
        let clock = ManualClock()
        var timeouts = Timeouts.patient
        timeouts[limit] = .seconds(5)
        try await play(question, version, clock: clock, timeouts: timeouts) { stage, task in
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: .seconds(5))
            let error = try await NetworkError.thrown { try await task.value }
            #expect(error.code == .timedOut)
            #expect(error.phase == .tls)
            #expect(error.exceeded == limit)
            #expect(error.limit == .seconds(5))
            #expect(!error.requestMayHaveBeenSent)
        }
    }

    private enum Cancel: CaseIterable, Sendable { case task, handle, session }

    @Test(arguments: Question.allCases, Cancel.allCases)
    private func `the wait for a hook's answer ends when its request is cancelled`(question: Question, cancel: Cancel)
        async throws
    {
        try await Self.play(question, .v1_3) { stage, task in
            switch cancel {
            case .task: task.cancel()
            case .handle: for task in await stage.session.tasks.all { await stage.session.tasks.cancel(task.id) }
            case .session: #expect(await stage.session.shutdown() == 1)
            }
            if case .task = cancel {
                await #expect(throws: CancellationError.self) { try await task.value }
            } else {
                let error = try await NetworkError.thrown { try await task.value }
                #expect(error.code == .cancelled)
                #expect(error.phase == .tls)
            }
        }
    }

    /// What it says by then is an error of its own, or would be one.
    @Test(arguments: Question.allCases)
    private func `what a hook answers after its request was cancelled is ignored`(question: Question) async throws {
        let asked = Mutex<LoopbackServer.Gate?>(nil)
        let hook = Hook { challenge in
            if case .serverTrust = challenge.kind, question == .identity { return .performDefault }
            asked.withLock { $0?.open() }
            while !Task.isCancelled { await Task.yield() }
            return question == .trust ? .reject : .useCredential(.trustDespiteRefusal)
        }
        try await SecureStage.with(
            tolerating: true, tls: { tls, _ in tls.clientCertificate = .required },
            configure: { configuration, _ in configuration.authenticationHandler = hook.hook }
        ) { (stage: SecureStage) async throws in
            for _ in 0..<50 {
                let gate = LoopbackServer.Gate()
                asked.withLock { $0 = gate }
                let task = Task { _ = try await stage.session.get("x", as: .bytes) }
                try await gate.opened()
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(stage.session.connections.open == 0)
        }
    }

    @Test func `a request fails if its server has gone by the time the hook answers`() async throws {
        let (asked, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let hook = Hook(asked, until: goOn)
        try await SecureStage.with(
            tolerating: true, configure: { configuration, _ in configuration.authenticationHandler = hook.hook }
        ) { (stage: SecureStage) async throws in
            let task = Task { _ = try await stage.session.get("x", as: .bytes) }
            try await asked.opened()
            stage.server.stop()
            goOn.open()
            let error = try await NetworkError.thrown { try await task.value }
            #expect([.secureConnectionFailed, .connectionClosed].contains(error.code), "\(error)")
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A request's authentication handler` {
    @Test func `a request's authentication handler decides for its request alone`() async throws {
        try await SecureStage.with(`A session's authentication handler`.stranger, tolerating: true) {
            (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            var options = HTTPSession.Options()
            options.authenticationHandler = Hook.trusting.hook
            for round in 0..<3 {
                let response = try await stage.session.get("x", options: options, as: .string)
                #expect(response.metrics.hops.map(\.isConnectionReused) == [false])
                #expect(response.metrics.hops.last?.security?.isResumed == false)
                #expect(stage.session.connections.open == 0)
                let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
                #expect(error.trustRefusal?.reason == .unknownIssuer, "in round \(round)")
            }
            #expect(stage.server.requests.map(\.connection) == [0, 2, 4])
        }
    }

    @Test func `a request's authentication handler is asked though others agreed, and shares no connection`()
        async throws
    {
        let client = try CertificateAuthority().issue(.client("Ada"))
        try await SecureStage.with(tls: { tls, _ in tls.clientCertificate = .requested }) {
            (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            let hook = try Hook.presenting(client)
            var options = HTTPSession.Options()
            options.authenticationHandler = hook.hook
            _ = try await stage.session.get("anonymous", as: .bytes)
            _ = try await stage.session.get("Ada", options: options, as: .bytes)
            _ = try await stage.session.get("anonymous", as: .bytes)
            let seen = stage.server.requests
            #expect(seen.map { $0.handshake?.clientCertificate } == [nil, client.der, nil])
            #expect(seen.map(\.connection) == [0, 1, 0])
            #expect(stage.server.handshakes.map(\.wasResumed) == [false, false])
            #expect(hook.questions == "bc")
            #expect(stage.session.connections.idle == 1)
        }
    }

    @Test func `a request with its own hook waits its turn and opens a connection in that place`() async throws {
        try await SecureStage.with(configure: { configuration, _ in configuration.connections.perOrigin = 1 }) {
            (stage: SecureStage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "0").waiting(for: gate))
            stage.server.respond { _ in .response(body: "1") }
            let hook = Hook { _ in .performDefault }
            let session = stage.session
            let first = Task { try await session.get("0", as: .string).value }
            _ = try await stage.server.waitForRequests(1)
            let second = Task {
                var options = HTTPSession.Options()
                options.authenticationHandler = hook.hook
                return try await session.get("1", options: options, as: .string).value
            }
            try await eventually("it waits", following: stage.loop, stage.server) { session.connections.waiting == 1 }
            gate.open()
            #expect(try await first.value == "0")
            #expect(try await second.value == "1")
            #expect(stage.server.requests.map(\.connection) == [0, 1])
            #expect(hook.questions == "b")
            #expect(session.connections.open == 0)
            // And where nobody waits, what is idle makes room.
            _ = try await session.get("2", as: .string)
            var options = HTTPSession.Options()
            options.authenticationHandler = hook.hook
            _ = try await session.get("3", options: options, as: .string)
            #expect(stage.server.requests.map(\.connection) == [0, 1, 2, 3])
        }
    }

    @Test(.rows("SM-80")) func `a session's authentication handler is asked where the request's has no opinion`()
        async throws
    {
        let first = Hook { if case .serverTrust = $0.kind { .performDefault } else { .reject } }
        let second = Hook.trusting
        try await SecureStage.with(
            `A session's authentication handler`.stranger, tls: { tls, _ in tls.clientCertificate = .requested },
            configure: { configuration, _ in configuration.authenticationHandler = second.hook }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            var options = HTTPSession.Options()
            options.authenticationHandler = first.hook
            _ = try await stage.session.get("x", options: options, as: .bytes)
            #expect(first.questions == "rc")
            #expect(second.questions == "r")
        }
    }

    @Test func `a request's authentication handler is not asked in clear text`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let hook = Hook { _ in .cancel() }
            var options = HTTPSession.Options()
            options.authenticationHandler = hook.hook
            for _ in 0..<2 { _ = try await stage.session.get("x", options: options, as: .bytes) }
            #expect(hook.asked.isEmpty)
            #expect(stage.server.connectionCount == 1)
        }
    }
}
