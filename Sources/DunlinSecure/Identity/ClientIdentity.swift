internal import COpenSSL
public import DunlinTypes

/// The client's identity for a server that asks: a certificate, the chain above it, and its private key.
///
/// An unusable identity is refused when it is loaded.
public struct ClientIdentity: Sendable {
    let certificate: Owned
    let privateKey: Owned
    let chain: Owned
    /// The SHA-256 of the certificate, which sessions are kept by.
    public let key: Bytes

    /// Creates an identity from PEM: certificates, and the key among them or in a separate text. The key may be
    /// encrypted.
    public init(pem: Bytes, key: Bytes? = nil, passphrase: String? = nil) throws(IdentityError) {
        let privateKey = try IdentityReader.privateKey(in: key ?? pem, passphrase)
        try self.init(IdentityReader.certificates(in: pem), privateKey)
    }

    /// Creates an identity from PKCS#12, as in `.p12` and `.pfx` files.
    public init(pkcs12: Bytes, passphrase: String? = nil) throws(IdentityError) {
        let (certificates, privateKey) = try IdentityReader.pkcs12(pkcs12, passphrase)
        try self.init(certificates, privateKey)
    }

    private init(_ certificates: [Owned], _ privateKey: Owned) throws(IdentityError) {
        defer { OpenSSLErrors.clear() }
        guard !certificates.isEmpty else { throw .noCertificate }
        let own = certificates.firstIndex { X509_check_private_key($0.pointer, privateKey.pointer) == 1 }
        guard let own, let stack = dunlin_certificates_new() else { throw .keyDoesNotFit }
        chain = Owned(stack) { dunlin_certificates_free($0) }
        for (index, certificate) in certificates.enumerated() where index != own {
            X509_up_ref(certificate.pointer)
            dunlin_certificates_push(stack, certificate.pointer)
        }
        certificate = certificates[own]
        self.privateKey = privateKey
        self.key = try Self.digest(certificates[own])
    }

    private static func digest(_ certificate: Owned) throws(IdentityError) -> Bytes {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate.pointer, EVP_sha256(), &digest, &count) == 1 else {
            throw .malformed("its digest cannot be computed")
        }
        return Bytes(Array(digest[..<Int(count)]))
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of the key.
    public var description: String { "client identity" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
