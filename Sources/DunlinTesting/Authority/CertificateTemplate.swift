/// What a certificate is to say. Nothing is checked: a test may ask for any nonsense.
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
        /// `Key.shared`: a new one, unless that takes long.
        case shared(CertificateAuthority.Key.Kind)
        case key(CertificateAuthority.Key)
    }

    /// The subject's common name. Clients must not look for a host there.
    public var commonName: String?
    /// Subject alternative names. What is an IP address becomes one, all else a DNS name as it stands.
    public var names: [String] = []
    public var key = KeyChoice.shared(.p256)
    /// Counted from the moment of issue, and cut to whole seconds.
    public var validFrom = Duration.seconds(-3600)
    public var validUntil = Duration.seconds(90 * 86_400)
    public var digest = SignatureDigest.sha256
    public var isAuthority = false
    /// False leaves the basic constraints out altogether.
    public var hasBasicConstraints = true
    /// How many authorities may follow below this one; nil for any number.
    public var pathLength: UInt8?
    /// Nil leaves the extension out.
    public var usage: Usage? = .signing
    /// Empty leaves the extension out: any purpose.
    public var purposes: [Purpose] = []
    /// Name constraints: DNS names (`api.test` holds for it and all below) and networks (`10.0.0.0/8`).
    public var permittedNames: [String] = []
    public var excludedNames: [String] = []
    /// False leaves out whose key signed it, as certificates of authorities made by hand often do; RFC 5280 demands it.
    public var hasAuthorityKey = true
    /// Demands a stapled OCSP response (RFC 7633).
    public var requiresStaple = false

    public init(commonName: String? = nil, names: [String] = []) {
        self.commonName = commonName
        self.names = names
    }
}

extension CertificateTemplate {
    /// A server's certificate for these DNS names and IP addresses; `*.api.test` is a wildcard. The first one is the
    /// common name too.
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

    /// The certificate of one who signs OCSP responses for an authority.
    public static func statusResponder(_ name: String) -> Self {
        var template = Self(commonName: name)
        template.purposes = [.statusSigning]
        return template
    }
}

extension CertificateTemplate {
    /// Ended yesterday.
    public var expired: Self { valid(from: .seconds(-60 * 86_400), until: .seconds(-86_400)) }

    /// Begins tomorrow.
    public var notYetValid: Self { valid(from: .seconds(86_400), until: .seconds(60 * 86_400)) }

    /// The host in the common name and nowhere else.
    public var commonNameOnly: Self { changed { $0.names = [] } }

    /// Signed over SHA-1.
    public var signedOverSHA1: Self { changed { $0.digest = .sha1 } }

    /// RSA of 1024 bits.
    public var withWeakKey: Self { with(.rsa1024) }

    /// A certificate that says it is no authority, whatever it was made for.
    public var withoutAuthority: Self { changed { $0.isAuthority = false } }

    /// Without the extension that says whose key signed it.
    public var withoutAuthorityKey: Self { changed { $0.hasAuthorityKey = false } }

    public var stapled: Self { changed { $0.requiresStaple = true } }

    public func with(_ kind: CertificateAuthority.Key.Kind) -> Self { changed { $0.key = .shared(kind) } }

    /// For a certificate renewed with the same key, and for an authority that several sign.
    public func with(_ key: CertificateAuthority.Key) -> Self { changed { $0.key = .key(key) } }

    /// Counted from the moment of issue.
    public func valid(from: Duration, until: Duration) -> Self {
        changed {
            $0.validFrom = from
            $0.validUntil = until
        }
    }

    public func purposes(_ purposes: Purpose...) -> Self { changed { $0.purposes = purposes } }

    public func usage(_ usage: Usage?) -> Self { changed { $0.usage = usage } }

    /// No more than this many authorities below.
    public func pathLength(_ length: UInt8) -> Self { changed { $0.pathLength = length } }

    public func permitting(_ names: String...) -> Self { changed { $0.permittedNames = names } }

    public func excluding(_ names: String...) -> Self { changed { $0.excludedNames = names } }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var template = self
        change(&template)
        return template
    }
}
