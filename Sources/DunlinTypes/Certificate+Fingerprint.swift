extension Certificate {
    /// A SHA-256 digest, written in the form of a pin: `sha256/` and Base64.
    ///
    /// For a public key, the digest covers the whole SubjectPublicKeyInfo, as in RFC 7469. To print it:
    /// `openssl x509 -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`.
    public struct Fingerprint: Sendable, Hashable {
        /// The digest's 32 bytes.
        public let bytes: Bytes

        /// Creates a fingerprint; nil unless there are 32 bytes.
        public init?(bytes: Bytes) {
            guard bytes.count == 32 else { return nil }
            self.bytes = bytes
        }

        /// Creates a fingerprint from exactly 32 bytes, unchecked.
        package init(unchecked bytes: Bytes) {
            self.bytes = bytes
        }

        /// Reads `sha256/` followed by Base64; nil for anything else.
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
    /// The digest as `openssl x509 -fingerprint -sha256` prints it: `AB:01:…`. This form is not accepted as a pin.
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
