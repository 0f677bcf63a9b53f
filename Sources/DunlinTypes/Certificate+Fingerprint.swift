extension Certificate {
    /// A SHA-256 digest, written as pins are: `sha256/` and Base64.
    ///
    /// Of a public key it is the digest of the whole SubjectPublicKeyInfo, as in RFC 7469. `openssl` prints it by
    /// `openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`.
    public struct Fingerprint: Sendable, Hashable {
        /// 32 bytes.
        public let bytes: Bytes

        /// Nil unless there are 32 bytes.
        public init?(bytes: Bytes) {
            guard bytes.count == 32 else { return nil }
            self.bytes = bytes
        }

        /// Of bytes that are known to be 32.
        package init(unchecked bytes: Bytes) {
            self.bytes = bytes
        }

        /// Reads `sha256/` followed by Base64. Nil for anything else.
        public init?(_ text: String) {
            let prefix = "sha256/"
            guard text.hasPrefix(prefix), let bytes = Base64.decode(text.utf8.dropFirst(prefix.utf8.count)) else {
                return nil
            }
            self.init(bytes: Bytes(bytes))
        }
    }
}

extension Certificate.Fingerprint {
    /// As `openssl x509 -fingerprint -sha256` prints the digest of a certificate, which is no pin: `AB:01:…`.
    public var hexadecimal: String {
        bytes.map { Hex.text($0, count: 2, uppercase: true) }.joined(separator: ":")
    }
}

extension Certificate.Fingerprint: CustomStringConvertible, Comparable {
    public var description: String { "sha256/\(Base64.encode(bytes))" }

    public static func < (left: Certificate.Fingerprint, right: Certificate.Fingerprint) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
