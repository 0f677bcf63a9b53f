internal import DunlinSecure

/// A session's identity, loaded: from bytes once, from files again whenever they change.
enum IdentitySource: Sendable {
    case fixed(ClientIdentity)
    case files(IdentityFiles)

    /// Throws `NetworkError` with code `invalidConfiguration`.
    init(_ identity: HTTPSession.ClientIdentity, readsPipes: Bool) throws {
        do throws(IdentityError) {
            self = try Self.load(identity, readsPipes)
        } catch {
            switch error {
            case .cannotRead, .tooLarge:
                throw NetworkError(.invalidConfiguration, "\(error)", underlying: error)
            default:
                throw NetworkError(
                    .invalidConfiguration, "\(error) (read from \(Self.names(identity.form)))", underlying: error)
            }
        }
    }

    private static func names(_ form: HTTPSession.ClientIdentity.Form) -> String {
        switch form {
        case .pkcs12(let source): source.name
        case .pem(let certificates, let key): certificates.name + (key.map { " and \($0.name)" } ?? "")
        }
    }

    /// Whether `current` needs read no files.
    var isAtHand: Bool {
        if case .fixed = self { true } else { false }
    }

    func current() -> ClientIdentity {
        switch self {
        case .fixed(let identity): identity
        case .files(let files): files.current()
        }
    }

    /// The identity that was read last.
    var latest: ClientIdentity {
        switch self {
        case .fixed(let identity): identity
        case .files(let files): files.latest
        }
    }

    private static func load(
        _ identity: HTTPSession.ClientIdentity, _ readsPipes: Bool
    ) throws(IdentityError) -> IdentitySource {
        let passphrase = identity.passphrase
        func files(_ paths: IdentityFiles.Paths) throws(IdentityError) -> IdentitySource {
            .files(try IdentityFiles(paths, passphrase: passphrase, readsPipes: readsPipes))
        }
        switch identity.form {
        case .pkcs12(.file(let path)):
            return try files(.pkcs12(path))
        case .pkcs12(.bytes(let bytes)):
            return .fixed(try ClientIdentity(pkcs12: bytes, passphrase: passphrase))
        case .pem(.file(let certificates), key: nil):
            return try files(.pem(certificates: certificates, key: nil))
        case .pem(.file(let certificates), key: .file(let key)?):
            return try files(.pem(certificates: certificates, key: key))
        case .pem(let certificates, let key):
            let own = try key.map(contents)
            return .fixed(try ClientIdentity(pem: contents(of: certificates), key: own, passphrase: passphrase))
        }
    }

    private static func contents(of source: HTTPSession.TLS.Source) throws(IdentityError) -> Bytes {
        do throws(NetworkError.TrustConfigurationError) {
            return try source.contents()
        } catch {
            throw .cannotRead(path: source.name, "it is missing, or not readable by this process")
        }
    }
}
