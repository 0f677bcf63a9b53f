internal import DunlinSecure
internal import DunlinTransport

/// The session's advice where a request has a hook of its own, which is asked after the session's.
///
/// What the hook allows, it allows this request. So no earlier session is taken up, which nobody was asked about, and
/// none is left for others.
final class RequestAdvice: HandshakeAdvice {
    private let session: SessionAdvice
    private let hooks: ChallengeHooks

    init(_ session: SessionAdvice, _ hook: @escaping AuthenticationHook) {
        self.session = session
        hooks = session.hooks(and: hook)
    }

    var edition: UInt64 { session.edition }

    func context() throws -> TLSContext { try session.context() }

    func peer(for origin: Origin) throws -> TLSPeer {
        var peer = try session.peer(for: origin, hasHook: true)
        peer.resumes = false
        return peer
    }

    func lastWord(on decision: TrustDecision, about origin: Origin) async throws -> TrustDecision {
        try await session.lastWord(on: decision, about: origin, hooks)
    }

    func identity(for origin: Origin, acceptableIssuers: [String]) async throws -> ClientIdentity? {
        try await session.identity(for: origin, acceptableIssuers, hooks)
    }
}

/// Gives the advice of one request's own hook.
final class RequestAdvisor: HandshakeAdvisor {
    private let session: SessionAdvisor
    private let hook: AuthenticationHook

    init(_ session: SessionAdvisor, _ hook: @escaping AuthenticationHook) {
        self.session = session
        self.hook = hook
    }

    func advice() -> any HandshakeAdvice { RequestAdvice(session.current(), hook) }
}
