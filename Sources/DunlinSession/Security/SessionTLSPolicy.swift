internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTransport

/// The TLS policy of a session: its settings, the servers it trusts, its identity, and the handlers it asks.
///
/// It is immutable: a change of any of these makes another one. There is one for a request with its own handler, which
/// is asked before the session's. What it allows, it allows for this request alone. So no earlier TLS session is
/// resumed, since the handler was not asked about it, and none is kept for other requests.
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
    private let hooks: ChallengeHooks
    /// The digest of our certificate; nil if we have none.
    var identityKey: Bytes? { identity?.key }

    init(_ setup: Setup, tlsGeneration: UInt64) {
        self.setup = setup
        self.tlsGeneration = tlsGeneration
        identity = setup.identity?.latest
        hooks = ChallengeHooks(session: setup.hook)
    }

    private init(_ session: SessionTLSPolicy, _ hook: @escaping HTTPSession.AuthenticationHandler) {
        (setup, tlsGeneration, identity) = (session.setup, session.tlsGeneration, session.identity)
        hooks = ChallengeHooks(session: session.setup.hook, request: hook)
    }

    /// The policy of a request with this handler.
    func asking(_ hook: @escaping HTTPSession.AuthenticationHandler) -> SessionTLSPolicy {
        SessionTLSPolicy(self, hook)
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
        (peer.asksAboutTrust, peer.asksForIdentity) = (!hooks.isEmpty, !hooks.isEmpty)
        if hooks.request != nil { peer.resumes = false }
        // With a handler, the identity is presented only if the handler does not decide otherwise.
        if hooks.isEmpty { peer.identity = identity }
        return peer
    }

    func finalDecision(on decision: HTTP.TrustDecision, about origin: HTTP.Origin) async throws -> HTTP.TrustDecision {
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

    func identity(for origin: HTTP.Origin, acceptableIssuers: [String]) async throws -> DunlinSecure.ClientIdentity? {
        let challenge = HTTPSession.AuthenticationChallenge(
            .clientCertificate(acceptableIssuers: acceptableIssuers), origin: origin)
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
