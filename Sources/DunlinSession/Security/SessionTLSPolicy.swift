internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTransport

/// The TLS policy of a session: its settings, the servers it trusts, its identity, and the handler it asks.
///
/// It is immutable: a change of any of these makes another one.
final class SessionTLSPolicy: TLSPolicy {
    /// Everything that has to be read and checked first.
    struct Setup {
        let tls: HTTPSession.TLS
        private(set) var contexts: TLSContextSource
        let trust: TrustSource
        let identity: IdentitySource?
        let hook: HTTPSession.AuthenticationHandler?
        let warnings: SecurityWarnings
        /// A name for the set of trusted servers; empty for the usual one.
        let trustName: String

        /// Throws `NetworkError` with code `invalidConfiguration`. An identity that comes through a pipe can be read
        /// once: when the session is made.
        init(
            _ tls: HTTPSession.TLS, _ hook: HTTPSession.AuthenticationHandler?, _ warnings: SecurityWarnings,
            readsPipes: Bool
        ) throws {
            self.tls = tls
            self.hook = hook
            self.warnings = warnings
            trust = try TrustSource.of(tls)
            identity = try tls.identity.map { try IdentitySource($0, readsPipes: readsPipes) }
            contexts = try TLSContextSource(tls)
            trustName = try tls.trustName(trust.contents)
        }

        /// The same settings without resuming earlier TLS sessions.
        func forgettingSessions() -> Setup {
            var setup = self
            setup.contexts = TLSContextSource(insteadOf: contexts)
            return setup
        }
    }

    let tlsGeneration: UInt64
    let setup: Setup
    private let identity: ClientIdentity?
    /// The digest of our certificate; nil if we have none.
    var identityKey: Bytes? { identity?.key }

    init(_ setup: Setup, tlsGeneration: UInt64) {
        self.setup = setup
        self.tlsGeneration = tlsGeneration
        identity = setup.identity?.latest
    }

    /// The policy with the identity that its files contain now; nil if that has not changed. It reads files.
    func renewed() -> SessionTLSPolicy? {
        guard let source = setup.identity, source.current().key != identity?.key else { return nil }
        return SessionTLSPolicy(setup, tlsGeneration: tlsGeneration + 1)
    }

    /// The next policy with the same settings, which resumes none of this one's TLS sessions.
    func forgettingSessions() -> SessionTLSPolicy {
        SessionTLSPolicy(setup.forgettingSessions(), tlsGeneration: tlsGeneration + 1)
    }

    var isAtHand: Bool { setup.trust.isAtHand }

    func context() throws -> TLSContext { try setup.contexts.context() }

    func peer(for origin: HTTP.Origin) throws -> TLSPeer {
        try peer(for: origin, hasHook: setup.hook != nil)
    }

    func finalDecision(on decision: HTTP.TrustDecision, about origin: HTTP.Origin) async throws -> HTTP.TrustDecision {
        try await finalDecision(on: decision, about: origin, hooks(and: nil))
    }

    func identity(for origin: HTTP.Origin, acceptableIssuers: [String]) async throws -> DunlinSecure.ClientIdentity? {
        try await identity(for: origin, acceptableIssuers, hooks(and: nil))
    }
}

// MARK: - With hooks

extension SessionTLSPolicy {
    func hooks(and request: HTTPSession.AuthenticationHandler?) -> ChallengeHooks {
        ChallengeHooks(session: setup.hook, request: request)
    }

    func peer(for origin: HTTP.Origin, hasHook: Bool) throws -> TLSPeer {
        let evaluator: TrustEvaluator
        do throws(NetworkError.TrustConfigurationError) {
            evaluator = try setup.trust.evaluator()
        } catch {
            throw NetworkError(.invalidConfiguration, "\(error)", phase: .tls, underlying: error)
        }
        let host = HostIdentity(origin.host)
        var serverName: String?
        if case .name(let name) = host { serverName = name }
        var peer = TLSPeer(origin, serverName: serverName, trust: HostTrust(evaluator, for: host))
        peer.asksAboutTrust = hasHook
        peer.asksForIdentity = hasHook
        // With a handler, the identity is presented only if the handler does not decide otherwise.
        if !hasHook { peer.identity = identity }
        return peer
    }

    func finalDecision(
        on decision: HTTP.TrustDecision, about origin: HTTP.Origin, _ hooks: ChallengeHooks
    ) async throws -> HTTP.TrustDecision {
        let challenge = HTTPSession.AuthenticationChallenge(.serverTrust(decision), origin: origin)
        switch await hooks.outcome(of: challenge) {
        case .proceedDespite(let refusal):
            let reason = "the authentication handler trusted \(origin.host) in spite of this: \(refusal)"
            setup.warnings.note(HTTPSession.SecurityWarning(.refusedServerWasTrusted, reason, host: origin.host))
            return .accepted(path: refusal.path)
        case .refuse(let refusal): return .refused(refusal)
        case .fail(let error): throw error
        case .proceed, .present, .presentDefault, .presentNothing: return decision
        }
    }

    func identity(
        for origin: HTTP.Origin, _ issuers: [String], _ hooks: ChallengeHooks
    ) async throws -> DunlinSecure.ClientIdentity? {
        let challenge = HTTPSession.AuthenticationChallenge(
            .clientCertificate(acceptableIssuers: issuers), origin: origin)
        switch await hooks.outcome(of: challenge) {
        case .present(let identity):
            let (results, result) = AsyncStream<Result<IdentitySource, any Error>>.makeStream()
            DiskThreads.shared.start { result.yield(Result { try IdentitySource(identity, readsPipes: false) }) }
            // A cancel ends the wait, but not the reading.
            for await read in results { return try read.get().latest }
            throw CancellationError()
        case .fail(let error): throw error
        case .presentDefault: return identity
        case .presentNothing, .proceed, .proceedDespite, .refuse: return nil
        }
    }
}
