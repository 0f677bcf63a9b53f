internal import DunlinSecure
internal import FoundationEssentials
internal import Synchronization

/// Makes a session's evaluator, once.
///
/// What the user gave is read when the session is made, so that a mistake shows at once. The system's roots are read
/// with the first secure connection: a session that makes none owes nothing to them.
final class TrustSource: Sendable {
    let rules: TrustRules
    private let own: [Certificate]
    private let system: (@Sendable () -> SystemRoots)?
    private let made = Mutex<TrustEvaluator?>(nil)

    /// Throws `TrustSetupError`.
    init(
        _ tls: HTTPSession.TLS, system: @escaping @Sendable () -> SystemRoots = { .ofProcess }
    ) throws(TrustSetupError) {
        var rules = try tls.policy.rules()
        rules.revocation = try tls.revocation.rules()
        self.rules = rules
        switch tls.roots {
        case .system: (own, self.system) = ([], system)
        case .only(let sources):
            // No root at all is one way to say that only pins count; but then none would be found missing.
            if sources.isEmpty, !tls.policy.allowInvalidCertificates {
                throw .contradiction("no root is believed, so no server ever would be")
            }
            (own, self.system) = (try Self.certificates(sources), nil)
        case .systemAnd(let sources): (own, self.system) = (try Self.certificates(sources), system)
        }
    }

    /// Throws `NetworkError` with code `invalidConfiguration`.
    static func of(_ tls: HTTPSession.TLS) throws -> TrustSource {
        do throws(TrustSetupError) {
            return try TrustSource(tls)
        } catch {
            throw NetworkError(.invalidConfiguration, error.description, underlying: error)
        }
    }

    /// Throws `TrustSetupError` when the system has no roots.
    func evaluator() throws(TrustSetupError) -> TrustEvaluator {
        if let evaluator = made.withLock({ $0 }) { return evaluator }
        // Files are not read under a lock. Two that come here at once do the work twice, and one result is kept.
        let system = try system?().load() ?? []
        let new = try TrustEvaluator(rules, roots: TrustStore(system + own))
        return made.withLock { made in
            if let made { return made }
            made = new
            return new
        }
    }

    private static func certificates(_ sources: [HTTPSession.TLS.Source]) throws(TrustSetupError) -> [Certificate] {
        var certificates: [Certificate] = []
        for source in sources {
            certificates += try CertificateFile.certificates(in: source.contents(), source: source.name)
        }
        return certificates
    }
}

extension SystemRoots {
    /// As the process's environment says.
    static var ofProcess: SystemRoots {
        let environment = ProcessInfo.processInfo.environment
        return SystemRoots(
            certificateFile: environment["SSL_CERT_FILE"], certificateFolders: environment["SSL_CERT_DIR"])
    }
}

extension HTTPSession.TLS.Source {
    func contents() throws(TrustSetupError) -> Bytes {
        switch self {
        case .bytes(let bytes): return bytes
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path) else { throw .unreadable(path) }
            return Bytes(data)
        }
    }

    /// For errors.
    var name: String {
        switch self {
        case .file(let path): path
        case .bytes(let bytes): "what was given as \(bytes.count) bytes"
        }
    }
}

extension HTTPSession.TLS.Revocation {
    func rules() throws(TrustSetupError) -> RevocationRules {
        var rules = RevocationRules()
        for source in lists {
            rules.lists += try RevocationListFile.lists(in: source.contents(), source: source.name)
        }
        rules.coversAuthorities = coversAuthorities
        rules.allowsMissingLists = allowsMissingLists
        rules.staple =
            switch staple {
            case .ignored: .ignored
            case .checkedIfPresent: .checkedIfPresent
            case .required: .required
            }
        return rules
    }
}
