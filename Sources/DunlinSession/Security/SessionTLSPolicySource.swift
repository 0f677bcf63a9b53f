internal import DunlinTransport
internal import Synchronization

/// A session's TLS policy, which can be replaced while the session lives.
final class SessionTLSPolicySource: TLSPolicySource {
    private let authenticationHandler: HTTPSession.AuthenticationHandler?
    private let baseURL: String?
    private let warnings: SecurityWarnings
    private let clearText: ClearTextRule
    private let latest: Mutex<SessionTLSPolicy>
    private let looks = FileLooks<SessionTLSPolicy>()

    /// Throws `NetworkError` with code `invalidConfiguration`.
    init(
        _ tls: HTTPSession.TLS, _ authenticationHandler: HTTPSession.AuthenticationHandler?, baseURL: String?,
        _ clearText: ClearTextRule,
        _ warnings: SecurityWarnings
    ) throws {
        self.authenticationHandler = authenticationHandler
        self.baseURL = baseURL
        self.warnings = warnings
        self.clearText = clearText
        let setup = try SessionTLSPolicy.Setup(tls, authenticationHandler, warnings, readsPipes: true)
        latest = Mutex(SessionTLSPolicy(setup, tlsGeneration: 0))
    }

    /// The current settings.
    var tls: HTTPSession.TLS { latest.withLock { $0.setup.tls } }

    /// The policy of the last handshake, and of the next one if its files have not changed.
    var latestPolicy: SessionTLSPolicy { latest.withLock { $0 } }

    func tlsPolicy(_ then: @escaping @Sendable (any TLSPolicy) -> Void) { policy(then) }

    /// The same, as a policy of the session.
    func policy(_ then: @escaping @Sendable (SessionTLSPolicy) -> Void) {
        let latest = latestPolicy
        if latest.setup.identity?.isAtHand ?? true { return then(latest) }
        looks.ask({ self.current() }, meanwhile: latest, then)
    }

    var refusesClearText: Bool { clearText.isRefused }

    /// The policy with what is in the identity's files now. This takes as long as the disk does.
    private func current() -> SessionTLSPolicy {
        let known = latest.withLock { $0 }
        // Files are not read under a lock. If two callers find them changed, one of them makes the next generation.
        guard let renewed = known.renewed() else { return known }
        return latest.withLock { latest in
            if latest === known { latest = renewed }
            return latest
        }
    }

    /// Forgets who the handler said we are. Returns the first generation that counts; nil without a handler.
    func forgetIdentity() -> UInt64? {
        let known = latest.withLock { $0 }
        guard known.setup.hook != nil else { return nil }
        let next = known.forgettingSessions()
        return latest.withLock { latest in
            // A policy that was made meanwhile is just as new.
            if latest === known { latest = next }
            return latest.tlsGeneration
        }
    }

    /// Replaces the settings. Returns the first generation that uses them. If they cannot be used, throws and changes
    /// nothing.
    func replace(_ tls: HTTPSession.TLS) throws -> UInt64 {
        try ClearTextRule.check(tls.policy, baseURL: baseURL)
        let setup = try SessionTLSPolicy.Setup(tls, authenticationHandler, warnings, readsPipes: false)
        tls.warnings.forEach(warnings.note)
        return latest.withLock { latest in
            latest = SessionTLSPolicy(setup, tlsGeneration: latest.tlsGeneration + 1)
            clearText.adopt(tls.policy)
            return latest.tlsGeneration
        }
    }
}

/// Gives the TLS policy of one request's own handler.
final class RequestTLSPolicySource: TLSPolicySource {
    private let session: SessionTLSPolicySource
    private let hook: HTTPSession.AuthenticationHandler

    init(_ session: SessionTLSPolicySource, _ hook: @escaping HTTPSession.AuthenticationHandler) {
        (self.session, self.hook) = (session, hook)
    }

    func tlsPolicy(_ then: @escaping @Sendable (any TLSPolicy) -> Void) {
        session.policy { [hook] policy in then(policy.asking(hook)) }
    }

    var refusesClearText: Bool { session.refusesClearText }
}
