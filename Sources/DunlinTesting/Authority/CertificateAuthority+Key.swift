internal import COpenSSL
public import DunlinTypes

extension CertificateAuthority {
    /// A key pair as bytes: a value that any thread may use.
    public struct Key: Sendable {
        /// The kinds of keys. RSA keys take long to make, so `shared` ones are made once in the process.
        public enum Kind: Sendable, Hashable, CaseIterable {
            case p256, p384, ed25519, rsa2048, rsa3072
            /// Too short for any client's default rules.
            case rsa1024
        }

        public let kind: Kind
        /// The private key in DER.
        let secret: [UInt8]
        /// The SubjectPublicKeyInfo in DER, which pins are digests of.
        public let publicKeyInfo: Bytes
        /// The public key alone, without its algorithm.
        let publicBits: [UInt8]

        /// Creates a new key.
        public init(_ kind: Kind = .p256) throws(AuthorityError) {
            try self.init(kind, OpenKey(generating: kind))
        }

        init(_ kind: Kind, _ key: borrowing OpenKey) throws(AuthorityError) {
            self.kind = kind
            secret = try key.secret()
            publicKeyInfo = Bytes(try key.publicKeyInfo())
            publicBits = try key.publicBits()
        }

        private static let rsa1024 = Result { () throws(AuthorityError) in try Key(.rsa1024) }
        private static let rsa2048 = Result { () throws(AuthorityError) in try Key(.rsa2048) }
        private static let rsa3072 = Result { () throws(AuthorityError) in try Key(.rsa3072) }

        /// Returns a key that tests may share: for kinds that take long to make always the same, for others a new one.
        public static func shared(_ kind: Kind) throws(AuthorityError) -> Key {
            switch kind {
            case .rsa1024: try rsa1024.get()
            case .rsa2048: try rsa2048.get()
            case .rsa3072: try rsa3072.get()
            case .p256, .p384, .ed25519: try Key(kind)
            }
        }
    }
}

extension CertificateAuthority.Key {
    /// The key as a pin: `sha256/` and the digest of the public key info in Base64.
    public var pin: String {
        get throws(AuthorityError) { "sha256/" + PEM.base64(try Digest.sha256(publicKeyInfo)) }
    }

    /// The key in PKCS#8, as PEM.
    public var pem: String {
        get throws(AuthorityError) { try open().pem(passphrase: nil) }
    }

    /// Returns the key in PKCS#8, as PEM, encrypted with AES-256.
    public func pem(passphrase: String) throws(AuthorityError) -> String {
        try open().pem(passphrase: passphrase)
    }

    func open() throws(AuthorityError) -> OpenKey { try OpenKey(reading: secret) }

    /// A key that passes for `self` wherever keys are compared, but signs with another secret, so a handshake with it
    /// fails at the signature. Only for P-256.
    func forged() throws(AuthorityError) -> CertificateAuthority.Key {
        guard kind == .p256 else { throw AuthorityError(.makingKey, "only a P-256 key can be forged") }
        // SEQUENCE, INTEGER 1, OCTET STRING of 32 bytes: the number is always at the same position (RFC 5915).
        let stranger = try Self(.p256).secret[7..<39]
        let forged = DER.sequence(
            DER.integer(1), DER.octets(stranger), DER.explicit(0, DER.object(.p256)),
            DER.explicit(1, DER.bits(publicBits)))
        return try Self(.p256, OpenKey(reading: forged))
    }
}
