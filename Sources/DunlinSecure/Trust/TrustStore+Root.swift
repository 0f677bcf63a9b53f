internal import COpenSSL
internal import DunlinTypes

extension TrustStore {
    /// A certificate that has not been parsed yet: its bytes, and the hash of its subject.
    struct Root {
        let der: Bytes
        /// The hash of the certificate's subject. Different names may have the same hash.
        let subject: UInt

        /// Creates a root; nil if the bytes are not a certificate. OpenSSL may still reject bytes that have the form of
        /// one.
        init?(der: Bytes) {
            self.der = der
            if let subject = CertificateOutline(der).flatMap({ Self.hash(of: der[$0.subject]) }) {
                self.subject = subject
            } else if let parsed = ParsedCertificate(der: der) {
                // OpenSSL also reads bytes that are not quite DER.
                subject = X509Reading.hash(of: X509_get_subject_name(parsed.pointer))
            } else {
                return nil
            }
        }

        /// Whether OpenSSL can parse the certificate.
        var canBeRead: Bool {
            if case .none = ParsedCertificate(der: der) { false } else { true }
        }

        private static func hash(of name: Bytes) -> UInt? {
            let decoded = name.withUnsafeBytes {
                dunlin_name_decode($0.bindMemory(to: UInt8.self).baseAddress, $0.count)
            }
            guard let decoded else {
                OpenSSLErrors.clear()
                return nil
            }
            defer { X509_NAME_free(decoded) }
            return X509Reading.hash(of: decoded)
        }
    }
}
