internal import COpenSSL
public import DunlinTypes

extension CertificateAuthority {
    /// A key pair, as bytes: a value that any thread may use.
    public struct Key: Sendable {
        /// What kinds of keys there are. RSA keys take long to make: `shared` ones exist once in the process.
        public enum Kind: Sendable, Hashable, CaseIterable {
            case p256, p384, ed25519, rsa2048, rsa3072
            /// Too short for anyone's default rules.
            case rsa1024
        }

        public let kind: Kind
        /// The private key in DER.
        let secret: [UInt8]
        /// SubjectPublicKeyInfo in DER: what is hashed for a pin.
        public let publicKeyInfo: Bytes
        /// The public key alone, without its algorithm.
        let publicBits: [UInt8]

        /// A new key.
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

        /// A key for a test that does not care whose else it is: for the kinds that take long to make the same one each
        /// time, for the others a new one.
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
    /// What pins are compared with: `sha256/` and the digest of the public key info in Base64.
    public var pin: String {
        get throws(AuthorityError) { "sha256/" + PEM.base64(try Digest.sha256(publicKeyInfo)) }
    }

    /// PKCS#8, in PEM.
    public var pem: String {
        get throws(AuthorityError) { try open().pem(passphrase: nil) }
    }

    /// PKCS#8, in PEM, encrypted with AES-256.
    public func pem(passphrase: String) throws(AuthorityError) -> String {
        try open().pem(passphrase: passphrase)
    }

    func open() throws(AuthorityError) -> OpenKey { try OpenKey(reading: secret) }

    /// Passes for `self` wherever keys are compared, but signs with another secret: a handshake with it fails at the
    /// signature. Only for P-256.
    func forged() throws(AuthorityError) -> CertificateAuthority.Key {
        guard kind == .p256 else { throw AuthorityError(.makingKey, "only a P-256 key can be forged") }
        // SEQUENCE, INTEGER 1, OCTET STRING of 32 bytes: the number stands where it always does (RFC 5915).
        let stranger = try Self(.p256).secret[7..<39]
        let forged = DER.sequence(
            DER.integer(1), DER.octets(stranger), DER.explicit(0, DER.object(.p256)),
            DER.explicit(1, DER.bits(publicBits)))
        return try Self(.p256, OpenKey(reading: forged))
    }
}
