/// An X.509 certificate: its bytes, and what a person reads of it.
public struct Certificate: Sendable {
    /// What stands in it.
    public struct Details: Sendable, Hashable {
        /// Whose it is, as RFC 4514 writes it: `CN=api.test,O=Test`.
        public var subject: String
        /// Who signed it.
        public var issuer: String
        /// The hosts it is for: names and addresses of the subject alternative name. A common name is none.
        public var names: [String]
        /// In hexadecimal digits.
        public var serialNumber: String
        /// From when to when it is valid, in seconds since 1970.
        public var notBefore: Int64
        public var notAfter: Int64
        /// Of the whole certificate.
        public var fingerprint: Certificate.Fingerprint
        /// Of its SubjectPublicKeyInfo: what a public-key pin is compared with.
        public var publicKey: Certificate.Fingerprint
        /// The kind of its key and the key's size: `EC 256`, `RSA 2048`.
        public var key: String
        /// How it is signed: `ecdsa-with-SHA256`.
        public var signature: String
        /// Whether it may sign others.
        public var isAuthority: Bool

        package init(
            subject: String, issuer: String, names: [String], serialNumber: String, notBefore: Int64,
            notAfter: Int64, fingerprint: Certificate.Fingerprint, publicKey: Certificate.Fingerprint, key: String,
            signature: String,
            isAuthority: Bool
        ) {
            self.subject = subject
            self.issuer = issuer
            self.names = names
            self.serialNumber = serialNumber
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.fingerprint = fingerprint
            self.publicKey = publicKey
            self.key = key
            self.signature = signature
            self.isAuthority = isAuthority
        }
    }

    public let der: Bytes
    /// From when on and until when it is valid, in seconds since 1970; the latter does not count any more. Known
    /// beforehand, because it is asked whenever a path that was accepted is relied on again.
    package let validFrom: Int64
    package let validUntil: Int64
    /// Seldom asked, so nothing else is read before somebody does.
    private let read: @Sendable (Bytes) -> Details

    package init(
        der: Bytes, validFrom: Int64, validUntil: Int64, read: @escaping @Sendable (Bytes) -> Details
    ) {
        self.der = der
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.read = read
    }

    /// Read anew each time.
    public var details: Details { read(der) }
}

extension Certificate: Hashable {
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.der == right.der
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(der)
    }
}

extension Certificate: CustomStringConvertible {
    /// With what to pin it by: the digest of its key, not its own.
    public var description: String {
        let details = details
        return "\(details.subject) (issued by \(details.issuer), \(details.publicKey))"
    }
}
