/// A cryptographic digest of some content, with its algorithm.
public struct ContentDigest: Sendable, Hashable {
    public let algorithm: ContentDigest.Algorithm
    public let bytes: Bytes

    /// Creates a digest; nil unless `bytes` has the algorithm's length.
    public init?(_ algorithm: ContentDigest.Algorithm, _ bytes: Bytes) {
        guard bytes.count == algorithm.byteCount else { return nil }
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// The error for text that is not a digest of its algorithm.
    public struct Malformed: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Creates a digest from hexadecimal digits, as `sha256sum` prints them, in either case. Throws for anything else:
    /// a mistyped digest must not turn the check off.
    public init(_ algorithm: ContentDigest.Algorithm, hex: String) throws(Malformed) {
        let digits = Array(hex.utf8)
        let wanted = "a \(algorithm) digest has \(2 * algorithm.byteCount) hexadecimal digits"
        guard digits.count == 2 * algorithm.byteCount else {
            throw Malformed(description: "\(wanted), but this text has \(digits.count) characters")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(algorithm.byteCount)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Hex.value(digits[index]), let low = Hex.value(digits[index + 1]) else {
                throw Malformed(description: "\(wanted), but this text has other characters")
            }
            bytes.append(high << 4 | low)
        }
        self.algorithm = algorithm
        self.bytes = Bytes(bytes)
    }

    public var hex: String { bytes.hex }
}

extension ContentDigest: CustomStringConvertible {
    public var description: String { "\(algorithm):\(hex)" }
}
