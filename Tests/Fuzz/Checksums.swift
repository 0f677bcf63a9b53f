/// The checksums of a PNG's chunks, which a fuzzer never guesses.
enum Checksums {
    private static let table: [UInt32] = (0..<256).map { value in
        (0..<8).reduce(UInt32(value)) { rest, _ in rest & 1 == 1 ? 0xEDB8_8320 ^ rest >> 1 : rest >> 1 }
    }

    /// The same chunks with checksums that fit them.
    static func mended(_ input: [UInt8]) -> [UInt8] {
        var bytes = input
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 << 8 | Int(bytes[offset + $1]) }
            let end = offset + 8 + length
            guard end + 4 <= bytes.count else { break }
            let sum = bytes[offset + 4..<end].reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8 }
            for index in 0..<4 { bytes[end + index] = UInt8(truncatingIfNeeded: ~sum >> UInt32(24 - index * 8)) }
            offset = end + 4
        }
        return bytes
    }
}
