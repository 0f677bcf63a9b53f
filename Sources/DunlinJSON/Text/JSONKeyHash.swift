/// A hash that quickly tells most different keys apart. It is not secure: anybody can make keys with the same hash, so
/// equal hashes still require a comparison.
enum JSONKeyHash {
    /// The hash of a key with escapes, which can be written in many ways.
    static let none: UInt32 = 0

    /// The hash of a whole short key, or of both ends of a longer one.
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
