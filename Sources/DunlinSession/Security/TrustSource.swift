internal import DunlinSecure
internal import FoundationEssentials
internal import Synchronization

/// Creates a session's trust evaluator, and a new one when the system's roots have changed.
///
/// The user's certificates are read when the session is created, so that mistakes are reported early. The system's
/// roots are read once for the process, with its first TLS connection, so that a session without one pays nothing.
final class TrustSource: Sendable {
    private struct Made {
        let evaluator: TrustEvaluator
        /// The system's roots and their places; nil if they are not used.
        let system: (roots: TrustStore, locations: SystemRoots)?
    }

    let rules: TrustRules
    private let own: [Certificate]
    private let system: (@Sendable () -> SystemRoots)?
    private let shared: SharedRoots
    private let made = Mutex<Made?>(nil)

    /// Throws `NetworkError.TrustConfigurationError`.
    init(
        _ tls: HTTPSession.TLS, system: @escaping @Sendable () -> SystemRoots = { .ofProcess },
        shared: SharedRoots = .ofProcess
    ) throws(NetworkError.TrustConfigurationError) {
        self.shared = shared
        var rules = try tls.policy.rules()
        rules.revocation = try tls.revocation.rules()
        self.rules = rules
        switch tls.roots {
        case .system: (own, self.system) = ([], system)
        case .only(let sources):
            // Without roots, only pins can count, and only if invalid certificates are allowed.
            if sources.isEmpty, !tls.policy.allowsInvalidCertificates {
                throw .contradiction("`roots` is `.only([])`, which trusts no server; name a root, or use `.system`")
            }
            (own, self.system) = (try Self.certificates(sources), nil)
        case .systemAnd(let sources): (own, self.system) = (try Self.certificates(sources), system)
        }
    }

    /// Throws `NetworkError` with code `invalidConfiguration`.
    static func of(_ tls: HTTPSession.TLS) throws -> TrustSource {
        do throws(NetworkError.TrustConfigurationError) {
            return try TrustSource(tls)
        } catch {
            throw NetworkError(.invalidConfiguration, error.description, underlying: error)
        }
    }

    /// The user's certificates and revocation lists, in DER.
    var contents: [Bytes] { own.map(\.der) + rules.revocation.lists }

    /// Whether the evaluator can be created without reading the system's roots.
    var isAtHand: Bool {
        if system == nil { return true }
        guard let locations = made.withLock({ $0?.system?.locations }) else { return false }
        return shared.isFresh(locations)
    }

    /// The evaluator. Throws if the system has no roots.
    func evaluator() throws(NetworkError.TrustConfigurationError) -> TrustEvaluator {
        guard let known = made.withLock({ $0 }) else { return try first() }
        guard let (roots, locations) = known.system else { return known.evaluator }
        let latest = try shared.store(of: locations)
        return latest === roots ? known.evaluator : try make((latest, locations))
    }

    /// Creates the first evaluator. The environment is read once. The files are read whatever others have seen: after
    /// reloading TLS or installing a root, the current ones are wanted.
    private func first() throws(NetworkError.TrustConfigurationError) -> TrustEvaluator {
        guard let locations = system?() else { return try make(nil) }
        return try make((shared.store(of: locations, looks: true), locations))
    }

    /// Creates an evaluator. Nothing is read under the lock; of two simultaneous callers, the later result counts.
    private func make(
        _ system: (roots: TrustStore, locations: SystemRoots)?
    ) throws(NetworkError.TrustConfigurationError) -> TrustEvaluator {
        let roots = if own.isEmpty, let system { system.roots } else { try TrustStore(own, and: system?.roots) }
        let new = try TrustEvaluator(rules, roots: roots)
        return made.withLock { made in
            if let made, made.system?.roots === system?.roots { return made.evaluator }
            made = Made(evaluator: new, system: system)
            return new
        }
    }

    private static func certificates(_ sources: [HTTPSession.TLS.Source]) throws(NetworkError.TrustConfigurationError)
        -> [Certificate]
    {
        var certificates: [Certificate] = []
        for source in sources {
            certificates += try CertificateFile.certificates(in: source.contents(), source: source.name)
        }
        return certificates
    }
}

extension SystemRoots {
    /// The roots that the process's environment names.
    static var ofProcess: SystemRoots {
        let environment = ProcessInfo.processInfo.environment
        return SystemRoots(
            certificateFile: environment["SSL_CERT_FILE"], certificateFolders: environment["SSL_CERT_DIR"])
    }
}

extension HTTPSession.TLS.Source {
    func contents() throws(NetworkError.TrustConfigurationError) -> Bytes {
        switch self {
        case .bytes(let bytes): return bytes
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path) else { throw .unreadable(path) }
            return Bytes(data)
        }
    }

    /// The source's name in errors.
    var name: String {
        switch self {
        case .file(let path): path
        case .bytes(let bytes): "the given data of \(bytes.count) bytes"
        }
    }
}

extension HTTPSession.TLS.Revocation {
    func rules() throws(NetworkError.TrustConfigurationError) -> RevocationRules {
        var rules = RevocationRules()
        for source in lists {
            rules.lists += try RevocationListFile.lists(in: source.contents(), source: source.name)
        }
        rules.coversAuthorities = coversAuthorities
        rules.allowsMissingLists = allowsMissingLists
        rules.staple =
            switch stapling {
            case .ignored: .ignored
            case .checkedIfPresent: .checkedIfPresent
            case .required: .required
            }
        return rules
    }
}
