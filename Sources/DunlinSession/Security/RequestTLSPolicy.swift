internal import DunlinSecure
internal import DunlinTransport

/// The session's TLS policy for a request with its own handler, which is asked before the session's.
///
/// What the handler allows, it allows for this request alone. So no earlier TLS session is resumed, since the handler
/// was not asked about it, and none is kept for other requests.
final class RequestTLSPolicy: TLSPolicy {
    private let session: SessionTLSPolicy
    private let hooks: ChallengeHooks

    init(_ session: SessionTLSPolicy, _ hook: @escaping HTTPSession.AuthenticationHandler) {
        self.session = session
        hooks = session.hooks(and: hook)
    }

    var tlsGeneration: UInt64 { session.tlsGeneration }

    var isAtHand: Bool { session.isAtHand }

    func context() throws -> TLSContext { try session.context() }

    func peer(for origin: HTTP.Origin) throws -> TLSPeer {
        var peer = try session.peer(for: origin, hasHook: true)
        peer.resumes = false
        return peer
    }

    func finalDecision(on decision: HTTP.TrustDecision, about origin: HTTP.Origin) async throws -> HTTP.TrustDecision {
        try await session.finalDecision(on: decision, about: origin, hooks)
    }

    func identity(for origin: HTTP.Origin, acceptableIssuers: [String]) async throws -> ClientIdentity? {
        try await session.identity(for: origin, acceptableIssuers, hooks)
    }
}

/// Gives the TLS policy of one request's own handler.
final class RequestTLSPolicySource: TLSPolicySource {
    private let session: SessionTLSPolicySource
    private let hook: HTTPSession.AuthenticationHandler

    init(_ session: SessionTLSPolicySource, _ hook: @escaping HTTPSession.AuthenticationHandler) {
        self.session = session
        self.hook = hook
    }

    func tlsPolicy(_ then: @escaping @Sendable (any TLSPolicy) -> Void) {
        session.policy { [hook] policy in then(RequestTLSPolicy(policy, hook)) }
    }

    var refusesClearText: Bool { session.refusesClearText }
}
