extension ContentDigest {
    /// The digest algorithms that Dunlin computes and checks: those of RFC 9530 that are not broken.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        case sha256 = "sha-256"
        case sha512 = "sha-512"

        /// The length of a digest in bytes.
        public var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            }
        }

        /// The algorithm's name in the registry and in digest fields.
        public var description: String { rawValue }
    }
}
