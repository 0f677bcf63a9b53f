internal import COpenSSL
internal import DunlinTypes

extension TrustStore {
    /// A certificate that has not been read yet: its bytes, and whom it is about.
    struct Root {
        let der: Bytes
        /// The hash of its subject. Some names have the same.
        let subject: UInt

        /// Nil for what is no certificate. Of what looks like one from outside OpenSSL may still say so.
        init?(der: Bytes) {
            self.der = der
            if let subject = CertificateOutline(der).flatMap({ Self.hash(of: der[$0.subject]) }) {
                self.subject = subject
            } else if let parsed = ParsedCertificate(der: der) {
                // OpenSSL reads what is not quite DER, too.
                subject = X509Reading.hash(of: X509_get_subject_name(parsed.pointer))
            } else {
                return nil
            }
        }

        /// Whether OpenSSL takes it for a certificate.
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
