/// A hash of a key, to tell most different keys apart at a glance. It is no defence: whoever likes can make keys that
/// share one, so equal hashes mean that the keys must be compared.
enum JSONKeyHash {
    /// Of a key with escapes, which can be written in many ways.
    static let none: UInt32 = 0

    /// From all of a short key and from both ends of a longer one.
    static func of(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt32 {
        let start = range.lowerBound
        let length = range.count
        let bytes = text.bytes
        var first: UInt64 = 0
        var last: UInt64 = 0
        if length >= 8 {
            first = bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)
            last = bytes.unsafeLoadUnaligned(fromByteOffset: start + length - 8, as: UInt64.self)
        } else {
            for index in 0..<length { first = first << 8 | UInt64(text[start + index]) }
        }
        let mixed = (first ^ (last << 23 | last >> 41) ^ UInt64(length)) &* 0x9E37_79B9_7F4A_7C15
        return max(1, UInt32(truncatingIfNeeded: mixed >> 32))
    }
}
