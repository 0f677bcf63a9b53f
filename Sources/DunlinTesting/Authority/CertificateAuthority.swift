internal import DunlinTypes
internal import Glibc

/// A throwaway certificate authority: it exists in memory, and only clients that are told to trust it do.
///
/// ```swift
/// let authority = try CertificateAuthority()
/// let server = try authority.issue(.server("api.test"))
/// // The client under test trusts authority.pem and nothing else, or pins server.pin.
/// ```
///
/// Certificates that a client must refuse are as easy to make as those it must accept:
///
/// ```swift
/// try authority.issue(.server("api.test").expired)
/// try authority.issue(.server("api.test").commonNameOnly)
/// try authority.issue(.server("api.test").withWeakKey)
/// try authority.intermediate().issue(.server("api.test")).withoutIntermediates
/// try IssuedCertificate.selfSigned(.server("api.test"))
/// ```
///
/// Creating an authority with a P-256 key and a certificate from it takes some tenths of a millisecond.
public struct CertificateAuthority: Sendable {
    /// The authority's own certificate: self-signed for a root, with those above it for an intermediate.
    public let certificate: IssuedCertificate
    /// The authority's subject, as certificates name it.
    let name: [UInt8]
    /// The certificates that are sent with those it issues; a root is not sent.
    private let chain: [Bytes]

    /// Creates a root.
    public init(_ template: CertificateTemplate = .authority("Dunlin test root")) throws(AuthorityError) {
        certificate = try .selfSigned(template)
        name = template.subject
        chain = []
    }

    private init(_ template: CertificateTemplate, signedBy issuer: CertificateAuthority) throws(AuthorityError) {
        certificate = try issuer.issue(template)
        name = template.subject
        chain = certificate.chain
    }

    /// Returns an authority below this one.
    public func intermediate(
        _ template: CertificateTemplate = .authority("Dunlin test intermediate")
    ) throws(AuthorityError) -> CertificateAuthority {
        try CertificateAuthority(template, signedBy: self)
    }

    public func issue(_ template: CertificateTemplate) throws(AuthorityError) -> IssuedCertificate {
        let key = try template.key.key
        return try IssuedCertificate(template, key, issuer: name, signer: certificate.key, above: chain)
    }

    /// What a client is told to trust, as PEM.
    public var pem: String { certificate.pem }
}

extension IssuedCertificate {
    /// Returns a certificate that is its own authority.
    public static func selfSigned(_ template: CertificateTemplate) throws(AuthorityError) -> IssuedCertificate {
        let key = try template.key.key
        return try IssuedCertificate(template, key, issuer: template.subject, signer: key, above: [])
    }

    init(
        _ template: CertificateTemplate, _ key: CertificateAuthority.Key, issuer: [UInt8],
        signer: CertificateAuthority.Key, above: [Bytes]
    ) throws(AuthorityError) {
        var random = SystemRandomNumberGenerator()
        // Sixteen bytes that neither begin with a zero nor look negative.
        let serial = [UInt8.random(in: 1..<0x80, using: &random)] + (1..<16).map { _ in random.next() as UInt8 }
        let now = time(nil)
        let start = now + Int(template.validFrom.components.seconds)
        let end = now + Int(template.validUntil.components.seconds)
        let content = DER.sequence(
            DER.explicit(0, DER.integer(2)), DER.integer(serial), try template.digest.algorithm(signer.kind), issuer,
            DER.sequence(DER.time(start), DER.time(end)), template.subject, key.publicKeyInfo.array,
            try template.extensions(key: key, issuer: signer))
        self.init(
            der: Bytes(try signer.signed(content, template.digest)), intermediates: above, key: key, serial: serial,
            notBefore: start, notAfter: end)
    }
}

extension CertificateAuthority.Key {
    /// The content, the signature's algorithm and the signature, as in certificates and revocation lists.
    func signed(_ content: [UInt8], _ digest: SignatureDigest = .sha256) throws(AuthorityError) -> [UInt8] {
        let signature = try open().sign(content, digest)
        return DER.sequence(content, try digest.algorithm(kind), DER.bits(signature))
    }
}

extension CertificateTemplate {
    var subject: [UInt8] {
        guard let commonName else { return DER.sequence() }
        return DER.sequence(DER.set(DER.sequence(DER.object(.commonName), DER.text(commonName))))
    }
}

extension CertificateTemplate.KeyChoice {
    var key: CertificateAuthority.Key {
        get throws(AuthorityError) {
            switch self {
            case .shared(let kind): try .shared(kind)
            case .key(let key): key
            }
        }
    }
}
