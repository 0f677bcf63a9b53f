/// Appends numbers and texts in little-endian order.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ other: [UInt8]) {
        bytes += other
    }

    mutating func put(_ word: some FixedWidthInteger & UnsignedInteger) {
        withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends a text, preceded by its length.
    mutating func put(_ text: String) {
        put(UInt32(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }
}

/// Reads what a `ByteWriter` wrote; nil if fewer bytes are left.
struct ByteReader {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.count - offset else { return nil }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func word32() -> Int? {
        word(4).map { Int($0) }
    }

    mutating func word64() -> UInt64? {
        word(8)
    }

    /// Reads a number that fits in an `Int`.
    mutating func position() -> Int? {
        word(8).flatMap { Int(exactly: $0) }
    }

    mutating func text() -> String? {
        guard let count = word32(), let bytes = take(count) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private mutating func word(_ count: Int) -> UInt64? {
        take(count).map { $0.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    }
}
