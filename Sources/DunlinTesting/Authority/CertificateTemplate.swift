/// The contents of a certificate to issue. Nothing is checked: a test may ask for nonsense.
///
/// ```swift
/// let authority = try CertificateAuthority()
/// let good = try authority.issue(.server("api.test", "127.0.0.1"))
/// let late = try authority.issue(.server("api.test").expired)
/// ```
public struct CertificateTemplate: Sendable {
    /// What a certificate's key may be used for (RFC 5280 §4.2.1.3).
    public struct Usage: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let signing = Usage(rawValue: 0x80)
        public static let encipherment = Usage(rawValue: 0x20)
        public static let certificates = Usage(rawValue: 0x04)
        public static let revocationLists = Usage(rawValue: 0x02)
    }

    /// What a certificate may be used for (RFC 5280 §4.2.1.12).
    public enum Purpose: Sendable, Hashable {
        case server, client, codeSigning, statusSigning
    }

    public enum KeyChoice: Sendable {
        /// A key from `Key.shared`: a new one, unless that takes long.
        case shared(CertificateAuthority.Key.Kind)
        case key(CertificateAuthority.Key)
    }

    /// The subject's common name, in which clients must not look for a host.
    public var commonName: String?
    /// The subject alternative names. IP addresses are entered as such, and everything else as a DNS name, unchanged.
    public var names: [String] = []
    public var key = KeyChoice.shared(.p256)
    /// The beginning of validity, from the moment of issue, in whole seconds.
    public var validFrom = Duration.seconds(-3600)
    public var validUntil = Duration.seconds(90 * 86_400)
    public var digest = SignatureDigest.sha256
    public var isAuthority = false
    /// Whether there are basic constraints at all.
    public var hasBasicConstraints = true
    /// The number of authorities that may follow below this one; nil for any number.
    public var pathLength: UInt8?
    /// The key usage; nil to leave the extension out.
    public var usage: Usage? = .signing
    /// The purposes; empty to leave the extension out, which allows any.
    public var purposes: [Purpose] = []
    /// Name constraints: DNS names (`api.test` includes all names below it) and networks (`10.0.0.0/8`).
    public var permittedNames: [String] = []
    public var excludedNames: [String] = []
    /// Whether it names the key that signed it. Certificates of hand-made authorities often do not; RFC 5280 requires
    /// it.
    public var hasAuthorityKey = true
    /// Whether it requires a stapled OCSP response (RFC 7633).
    public var requiresStaple = false

    public init(commonName: String? = nil, names: [String] = []) {
        self.commonName = commonName
        self.names = names
    }
}

extension CertificateTemplate {
    /// A server's certificate for these DNS names and IP addresses; `*.api.test` is a wildcard. The first one is also
    /// the common name.
    public static func server(_ names: String...) -> Self {
        var template = Self(commonName: names.first, names: names)
        template.usage = [.signing, .encipherment]
        template.purposes = [.server]
        return template
    }

    /// A client's certificate.
    public static func client(_ name: String) -> Self {
        var template = Self(commonName: name)
        template.purposes = [.client]
        return template
    }

    /// An authority's certificate, root or intermediate.
    public static func authority(_ name: String) -> Self {
        var template = Self(commonName: name)
        template.validUntil = .seconds(3650 * 86_400)
        template.isAuthority = true
        template.usage = [.signing, .certificates, .revocationLists]
        return template
    }

    /// The certificate of a responder that signs OCSP responses for an authority.
    public static func statusResponder(_ name: String) -> Self {
        var template = Self(commonName: name)
        template.purposes = [.statusSigning]
        return template
    }
}

extension CertificateTemplate {
    /// A copy that expired yesterday.
    public var expired: Self { valid(from: .seconds(-60 * 86_400), until: .seconds(-86_400)) }

    /// A copy that becomes valid tomorrow.
    public var notYetValid: Self { valid(from: .seconds(86_400), until: .seconds(60 * 86_400)) }

    /// A copy with the host in the common name only.
    public var commonNameOnly: Self { changed { $0.names = [] } }

    /// A copy that is signed over SHA-1.
    public var signedOverSHA1: Self { changed { $0.digest = .sha1 } }

    /// A copy with an RSA key of 1024 bits.
    public var withWeakKey: Self { with(.rsa1024) }

    /// A copy that says it is not an authority, whatever it was made for.
    public var withoutAuthority: Self { changed { $0.isAuthority = false } }

    /// A copy without the extension that names the key that signed it.
    public var withoutAuthorityKey: Self { changed { $0.hasAuthorityKey = false } }

    public var stapled: Self { changed { $0.requiresStaple = true } }

    public func with(_ kind: CertificateAuthority.Key.Kind) -> Self { changed { $0.key = .shared(kind) } }

    /// Returns a copy with this key, for a certificate renewed with the same key, or an authority that several others
    /// sign.
    public func with(_ key: CertificateAuthority.Key) -> Self { changed { $0.key = .key(key) } }

    /// Returns a copy with this validity, from the moment of issue.
    public func valid(from: Duration, until: Duration) -> Self {
        changed {
            $0.validFrom = from
            $0.validUntil = until
        }
    }

    public func purposes(_ purposes: Purpose...) -> Self { changed { $0.purposes = purposes } }

    public func usage(_ usage: Usage?) -> Self { changed { $0.usage = usage } }

    /// Returns a copy that allows at most this many authorities below.
    public func pathLength(_ length: UInt8) -> Self { changed { $0.pathLength = length } }

    public func permitting(_ names: String...) -> Self { changed { $0.permittedNames = names } }

    public func excluding(_ names: String...) -> Self { changed { $0.excludedNames = names } }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var template = self
        change(&template)
        return template
    }
}
