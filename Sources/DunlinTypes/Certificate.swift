/// An X.509 certificate: its bytes, and details for people.
public struct Certificate: Sendable {
    /// The contents of a certificate.
    public struct Details: Sendable, Hashable {
        /// The subject, as RFC 4514 writes it: `CN=api.test,O=Test`.
        public var subject: String
        /// The issuer that signed it.
        public var issuer: String
        /// The hosts it is for: the names and addresses in its subject alternative name. The common name is not
        /// included.
        public var names: [String]
        /// The serial number, in hexadecimal digits.
        public var serialNumber: String
        /// The times between which it is valid, in seconds since 1970.
        public var notBefore: Int64
        public var notAfter: Int64
        /// The digest of the whole certificate.
        public var fingerprint: Certificate.Fingerprint
        /// The digest of its SubjectPublicKeyInfo, which public-key pins are compared with.
        public var publicKey: Certificate.Fingerprint
        /// The kind of its key and the key's size: `EC 256`, `RSA 2048`.
        public var key: String
        /// The algorithm of its signature: `ecdsa-with-SHA256`.
        public var signature: String
        /// Whether it may sign other certificates.
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
    /// The time from which it is valid, and the time before which it is valid, in seconds since 1970. Read at once,
    /// because they are checked whenever a path that was accepted is used again.
    package let validFrom: Int64
    package let validUntil: Int64
    /// Reads the details. They are seldom needed, so they are read only when asked for.
    private let read: @Sendable (Bytes) -> Details

    package init(
        der: Bytes, validFrom: Int64, validUntil: Int64, read: @escaping @Sendable (Bytes) -> Details
    ) {
        self.der = der
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.read = read
    }

    /// The contents, parsed anew at each access.
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
    /// Shows the digest to pin it by: its key's, not its own.
    public var description: String {
        let details = details
        return "\(details.subject) (issued by \(details.issuer), \(details.publicKey))"
    }
}
