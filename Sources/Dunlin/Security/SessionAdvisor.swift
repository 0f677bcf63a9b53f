internal import DunlinReactor
internal import DunlinSecure
internal import DunlinTransport
internal import FoundationEssentials
internal import Synchronization

/// What a session's handshakes have to know: its settings, whom it believes, who it is, and whom it asks.
///
/// What the user set is tried when the session is made, so that a mistake shows at once. What is left at its default
/// is made with the first secure connection: a session that makes none owes nothing to it.
final class SessionAdvisor: HandshakeAdvisor {
    private let tls: HTTPSession.TLS
    private let trust: TrustSource
    private let identity: IdentitySource?
    private let hook: AuthenticationHook?
    private let warnings: SecurityWarnings
    private let made = Mutex<TLSContext?>(nil)

    /// Throws `NetworkError` with code `invalidConfiguration`.
    init(_ configuration: HTTPSession.Configuration, _ warnings: SecurityWarnings) throws {
        tls = configuration.tls
        trust = try TrustSource.of(configuration)
        identity = try configuration.tls.identity.map { try IdentitySource($0) }
        hook = configuration.authenticate
        self.warnings = warnings
        if tls.isUnusual { _ = try context() }
    }

    var isForOneRequest: Bool { false }

    func context() throws -> TLSContext {
        if let context = made.withLock({ $0 }) { return context }
        // Not made under the lock, for a key log is a file. Two that come here at once make two, and one is kept.
        let new: TLSContext
        do throws(TLSError) {
            new = try TLSContext(tls.settings)
        } catch {
            throw NetworkError(.invalidConfiguration, "\(error)", phase: .secure, underlying: error)
        }
        return made.withLock { made in
            if let made { return made }
            made = new
            return new
        }
    }

    func peer(for origin: Origin) throws -> TLSPeer {
        try peer(for: origin, hasHook: hook != nil)
    }

    func lastWord(on decision: TrustDecision, about origin: Origin) async throws -> TrustDecision {
        try await lastWord(on: decision, about: origin, ChallengeHooks(session: hook))
    }

    func identity(for origin: Origin, acceptableIssuers: [String]) async throws -> DunlinSecure.ClientIdentity? {
        try await identity(for: origin, acceptableIssuers, ChallengeHooks(session: hook))
    }

    /// Forgets what servers would be resumed by, for instance because the identity's files were replaced.
    func discardSessions() {
        made.withLock { $0 }?.discardSessions()
    }
}

// MARK: - With hooks

extension SessionAdvisor {
    fileprivate func peer(for origin: Origin, hasHook: Bool) throws -> TLSPeer {
        let evaluator: TrustEvaluator
        do throws(TrustSetupError) {
            evaluator = try trust.evaluator()
        } catch {
            throw NetworkError(.invalidConfiguration, "\(error)", phase: .secure, underlying: error)
        }
        let host = HostIdentity(origin.host)
        var serverName: String?
        if case .name(let name) = host { serverName = name }
        var peer = TLSPeer(origin, serverName: serverName, trust: HostTrust(evaluator, for: host))
        peer.asksAboutTrust = hasHook
        peer.asksForIdentity = hasHook
        // With a hook it is shown only when the hook has no other idea.
        if !hasHook { peer.identity = identity?.current() }
        return peer
    }

    fileprivate func lastWord(
        on decision: TrustDecision, about origin: Origin, _ hooks: ChallengeHooks
    ) async throws -> TrustDecision {
        let challenge = AuthenticationChallenge(.serverTrust(decision), origin: origin)
        switch await hooks.outcome(of: challenge) {
        case .proceedDespite(let refusal):
            let reason = "the challenge hook believed \(origin.host) although: \(refusal)"
            warnings.note(SecurityWarning(.refusedServerWasBelieved, reason, host: origin.host))
            return .accepted(path: refusal.path)
        case .fail(let error): throw error
        case .proceed, .present, .presentDefault, .presentNothing: return decision
        }
    }

    fileprivate func identity(
        for origin: Origin, _ issuers: [String], _ hooks: ChallengeHooks
    ) async throws -> DunlinSecure.ClientIdentity? {
        let challenge = AuthenticationChallenge(.clientCertificate(acceptableIssuers: issuers), origin: origin)
        switch await hooks.outcome(of: challenge) {
        case .present(.identity(let identity)): return try IdentitySource(identity).current()
        case .fail(let error): throw error
        case .presentDefault: return identity?.current()
        case .present, .presentNothing, .proceed, .proceedDespite: return nil
        }
    }
}

/// The session's advice where a request has a hook of its own, which is asked after the session's.
final class RequestAdvisor: HandshakeAdvisor {
    private let session: SessionAdvisor
    private let hooks: ChallengeHooks

    init(_ session: SessionAdvisor, _ hook: @escaping AuthenticationHook) {
        self.session = session
        hooks = session.hooks(and: hook)
    }

    /// What the hook allows, it allows this request.
    var isForOneRequest: Bool { true }

    func context() throws -> TLSContext { try session.context() }

    func peer(for origin: Origin) throws -> TLSPeer {
        try session.peer(for: origin, hasHook: true)
    }

    func lastWord(on decision: TrustDecision, about origin: Origin) async throws -> TrustDecision {
        try await session.lastWord(on: decision, about: origin, hooks)
    }

    func identity(for origin: Origin, acceptableIssuers: [String]) async throws -> DunlinSecure.ClientIdentity? {
        try await session.identity(for: origin, acceptableIssuers, hooks)
    }
}

extension SessionAdvisor {
    fileprivate func hooks(and request: @escaping AuthenticationHook) -> ChallengeHooks {
        ChallengeHooks(session: hook, request: request)
    }
}

// MARK: - Settings

extension HTTPSession.TLS {
    /// Whether OpenSSL may find fault with it.
    fileprivate var isUnusual: Bool {
        ciphers != nil || suites != nil || groups != nil || keyLog != .off
    }

    fileprivate var settings: TLSSettings {
        var settings = TLSSettings()
        settings.versions = versions.lowerBound.setting...versions.upperBound.setting
        if let ciphers { settings.ciphers = ciphers }
        if let suites { settings.suites = suites }
        if let groups { settings.groups = groups }
        settings.asksForStaple = revocation.staple != .ignored
        settings.resumes = resumesSessions
        settings.keyLogPath = keyLog.path
        return settings
    }
}

extension HTTPSession.TLS.Version {
    fileprivate var setting: TLSSettings.Version {
        switch self {
        case .tls12: .tls12
        case .tls13: .tls13
        }
    }
}

extension HTTPSession.TLS.KeyLog {
    fileprivate var path: String? {
        switch self {
        case .off: nil
        case .environment: ProcessInfo.processInfo.environment["SSLKEYLOGFILE"].flatMap { $0.isEmpty ? nil : $0 }
        case .file(let path): path
        }
    }
}
