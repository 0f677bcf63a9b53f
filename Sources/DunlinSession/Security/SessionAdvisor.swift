internal import DunlinTransport
internal import Synchronization

/// A session's advice for handshakes, and the place where it is replaced while the session lives.
final class SessionAdvisor: HandshakeAdvisor {
    private let authenticate: AuthenticationHook?
    private let baseURL: String?
    private let warnings: SecurityWarnings
    private let clearText: ClearTextRule
    private let latest: Mutex<SessionAdvice>

    /// Throws `NetworkError` with code `invalidConfiguration`.
    init(
        _ tls: HTTPSession.TLS, _ authenticate: AuthenticationHook?, baseURL: String?, _ clearText: ClearTextRule,
        _ warnings: SecurityWarnings
    ) throws {
        self.authenticate = authenticate
        self.baseURL = baseURL
        self.warnings = warnings
        self.clearText = clearText
        let setup = try SessionAdvice.Setup(tls, authenticate, warnings)
        latest = Mutex(SessionAdvice(setup, edition: 0))
    }

    /// What counts now.
    var tls: HTTPSession.TLS { latest.withLock { $0.setup.tls } }

    func advice() -> any HandshakeAdvice { current() }

    func current() -> SessionAdvice {
        let known = latest.withLock { $0 }
        // Files are not looked at under a lock. Of two that find them changed, one makes the next edition.
        guard let renewed = known.renewed() else { return known }
        return latest.withLock { latest in
            if latest === known { latest = renewed }
            return latest
        }
    }

    /// Returns the edition from which on it counts. Throws, and nothing changes, if it cannot be used.
    func replace(_ tls: HTTPSession.TLS) throws -> UInt64 {
        try ClearTextRule.check(tls.policy, baseURL: baseURL)
        let setup = try SessionAdvice.Setup(tls, authenticate, warnings)
        tls.warnings.forEach(warnings.note)
        return latest.withLock { latest in
            latest = SessionAdvice(setup, edition: latest.edition + 1)
            clearText.follow(tls.policy)
            return latest.edition
        }
    }
}
