internal import DunlinSecure
internal import FoundationEssentials
internal import Synchronization

/// Creates the TLS context of one configuration, once.
///
/// The user's settings are tried at once, so that mistakes are reported early. With only the defaults, the context is
/// created with the first TLS connection, so that a session without one pays nothing.
final class TLSContextSource: Sendable {
    private let tls: HTTPSession.TLS
    private let made = AtomicLazyReference<TLSContext>()

    /// Throws `NetworkError` with code `invalidConfiguration`.
    init(_ tls: HTTPSession.TLS) throws {
        self.tls = tls
        if tls.isUnusual { _ = try context() }
    }

    /// Creates a source for settings that were already checked.
    init(insteadOf other: TLSContextSource) { tls = other.tls }

    func context() throws -> TLSContext {
        if let context = made.load() { return context }
        do throws(TLSError) {
            // If two callers each create one, the first is kept.
            return made.storeIfNil(try TLSContext(tls.settings))
        } catch {
            throw NetworkError(.invalidConfiguration, "\(error)", phase: .tls, underlying: error)
        }
    }
}

extension HTTPSession.TLS {
    /// Whether there are settings that OpenSSL may refuse.
    fileprivate var isUnusual: Bool {
        ciphers != nil || suites != nil || groups != nil || keyLog != .off
    }

    fileprivate var settings: TLSSettings {
        var settings = TLSSettings()
        settings.versions = versions.lowerBound.setting...versions.upperBound.setting
        if let ciphers { settings.ciphers = ciphers }
        if let suites { settings.suites = suites }
        if let groups { settings.groups = groups }
        settings.asksForStaple = revocation.stapling != .ignored
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
