internal import DunlinSecure
public import DunlinTypes
internal import FoundationEssentials

extension SecurityPolicy {
    /// What a server must present: a public key or a whole certificate. Every pin is well formed.
    public struct Pin: Sendable, Hashable {
        enum Content: Sendable, Hashable {
            case key(Certificate.Fingerprint)
            case certificate(Certificate)
        }

        let content: Content

        /// Creates a pin for a public key, from the digest of its SubjectPublicKeyInfo. It has no effect in mode
        /// `certificate`.
        public init(publicKey digest: Certificate.Fingerprint) {
            content = .key(digest)
        }

        /// Creates a pin for a public key, from `sha256/` and its digest in Base64. Throws a
        /// `NetworkError.TrustConfigurationError` for anything else.
        public init(_ text: String) throws {
            guard let digest = Certificate.Fingerprint(text) else {
                throw NetworkError.TrustConfigurationError.notAPin(text)
            }
            content = .key(digest)
        }

        public init(certificate: Certificate) {
            content = .certificate(certificate)
        }

        /// Creates a pin for a certificate in DER or PEM. Throws a `NetworkError.TrustConfigurationError` unless there
        /// is exactly one.
        public init(certificate bytes: Bytes) throws {
            let found = try CertificateFile.certificates(in: bytes, source: "the pin")
            guard found.count == 1 else {
                throw NetworkError.TrustConfigurationError.notACertificate(
                    source: "the pin", problem: "it holds \(found.count) certificates, not 1")
            }
            content = .certificate(found[0])
        }

        /// The digest of the public key.
        public var publicKey: Certificate.Fingerprint {
            switch content {
            case .key(let digest): digest
            case .certificate(let certificate): certificate.details.publicKey
            }
        }

        /// The certificate; nil if only the key is pinned.
        public var certificate: Certificate? {
            if case .certificate(let certificate) = content { certificate } else { nil }
        }
    }

    /// Loads the pins in a file: a certificate in DER, or certificates and public keys in PEM. Throws a
    /// `NetworkError.TrustConfigurationError` that names the file, if it cannot be read, contains no pins, or contains
    /// anything else.
    public static func loadPins(file path: String) throws -> Set<Pin> {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw NetworkError.TrustConfigurationError.unreadable(path)
        }
        let contents = try PinFile.contents(of: Bytes(data), source: path)
        return Set(contents.certificates.map(Pin.init(certificate:)) + contents.keys.map(Pin.init(publicKey:)))
    }

    /// Loads the pins in all `.cer`, `.der`, `.crt` and `.pem` files of a folder, without subfolders. Throws if one of
    /// them cannot be used, since a silently missing pin gives no protection.
    public static func loadPins(directory path: String) throws -> Set<Pin> {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw NetworkError.TrustConfigurationError.unreadable(path)
        }
        let files = names.sorted().filter { name in
            [".cer", ".der", ".crt", ".pem"].contains { name.lowercased().hasSuffix($0) }
        }
        guard !files.isEmpty else { throw NetworkError.TrustConfigurationError.noCertificates(in: path) }
        return try files.reduce(into: []) { $0.formUnion(try loadPins(file: "\(path)/\($1)")) }
    }
}

extension SecurityPolicy.Pin: CustomStringConvertible {
    public var description: String {
        switch content {
        case .key(let digest): digest.description
        // Not written in the form of a key's pin, because as such its digest would match nothing.
        case .certificate(let certificate): "certificate SHA-256 \(certificate.details.fingerprint.hexadecimal)"
        }
    }
}

extension SecurityPolicy.Pin: Codable {
    private enum Key: String, CodingKey {
        case publicKey
        case certificate
    }

    /// Decodes a pin. Throws a `DecodingError` for text that is not a pin.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        do throws(NetworkError.TrustConfigurationError) {
            content = try Self.content(
                key: Self.text(container, .publicKey), certificate: Self.text(container, .certificate))
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error))
        }
    }

    private static func text(
        _ container: KeyedDecodingContainer<Key>, _ key: Key
    ) throws(NetworkError.TrustConfigurationError) -> String? {
        do {
            return try container.decodeIfPresent(String.self, forKey: key)
        } catch {
            throw .contradiction("`\(key.rawValue)` of a pin is not a string")
        }
    }

    private static func content(key: String?, certificate: String?) throws(NetworkError.TrustConfigurationError)
        -> Content
    {
        switch (key, certificate) {
        case (let key?, nil):
            guard let digest = Certificate.Fingerprint(key) else { throw .notAPin(key) }
            return .key(digest)
        case (nil, let text?):
            guard let der = Base64.decode(text.utf8), let certificate = Certificate(der: Bytes(der)) else {
                throw .notACertificate(source: "the pin", problem: "it is not Base64 of DER")
            }
            return .certificate(certificate)
        default: throw .contradiction("a pin needs either `publicKey` or `certificate`")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch content {
        case .key(let digest): try container.encode(digest.description, forKey: .publicKey)
        case .certificate(let certificate):
            try container.encode(Base64.encode(certificate.der), forKey: .certificate)
        }
    }
}
