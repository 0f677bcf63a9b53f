/// The hash functions that protocols require. MD5 is included because Digest authentication has it, and SHA-1 because a
/// WebSocket server answers with it; nothing is trusted because of either.
package enum HashFunction: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case md5 = "MD5"
    case sha1 = "SHA-1"
    case sha256 = "SHA-256"
    case sha512 = "SHA-512"
    /// A 256-bit hash with other initial values than SHA-512: not a prefix of a SHA-512 hash (FIPS 180-4 §5.3.6).
    case sha512of256 = "SHA-512/256"

    /// The length of a hash in bytes.
    package var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256, .sha512of256: 32
        case .sha512: 64
        }
    }

    package var description: String { rawValue }
}
