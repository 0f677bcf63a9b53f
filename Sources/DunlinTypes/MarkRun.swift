/// A run of combining marks that no text needs.
///
/// Swift brings texts into one form to compare, hash or part them, and sorts marks for that: a run takes a time that
/// grows with its square, and 1 MiB of them a minute, each time. What comes from a peer has no longer runs than this,
/// if it is compared as text. The longest of a language has 30 (UAX #15, stream-safe text).
package enum MarkRun {
    package static let longest = 256
    /// A mark has at least two bytes. So a longer run has bytes at a multiple of this.
    private static let step = 2 * longest

    /// Whether bytes in UTF-8 have a longer run. Only a few of them are read.
    package static func isTooLong(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var position = step
        while position < bytes.count {
            if bytes[position] >= 0x80, marks(around: position, in: bytes) > longest { return true }
            position += step
        }
        return false
    }

    package static func isTooLong(in text: some Collection<UInt8>) -> Bool {
        if text.count <= step { return false }
        return text.withContiguousStorageIfAvailable { isTooLong(in: $0) }
            ?? Array(text).withUnsafeBufferPointer { isTooLong(in: $0) }
    }

    /// Whether a scalar is a mark that is sorted.
    package static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
    }

    /// The number of marks around a position, at most one more than may be.
    private static func marks(around position: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
        var start = position
        var count = 0
        while let mark = mark(before: start, in: bytes), count <= longest {
            start = mark
            count += 1
        }
        // A mark that has the position within it is counted from its beginning on.
        var end = start
        count = 0
        while count <= longest, let next = endOfMark(at: end, in: bytes) {
            end = next
            count += 1
        }
        return count
    }

    /// The start of the mark that ends before a position, or has it within; nil if there is none.
    private static func mark(before position: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var start = position - 1
        while start >= 0, start > position - 4, bytes[start] & 0xC0 == 0x80 { start -= 1 }
        guard start >= 0, let end = endOfMark(at: start, in: bytes) else { return nil }
        return end >= position ? start : nil
    }

    /// The end of the mark that begins at a position; nil if none does.
    private static func endOfMark(at position: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard position < bytes.count, bytes[position] >= 0xC0 else { return nil }
        let (first, length): (UInt32, Int) =
            bytes[position] < 0xE0
            ? (UInt32(bytes[position] & 0x1F), 2)
            : bytes[position] < 0xF0 ? (UInt32(bytes[position] & 0x0F), 3) : (UInt32(bytes[position] & 0x07), 4)
        guard position + length <= bytes.count else { return nil }
        var value = first
        for index in position + 1..<position + length {
            guard bytes[index] & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(bytes[index] & 0x3F)
        }
        guard let scalar = Unicode.Scalar(value), isMark(scalar) else { return nil }
        return position + length
    }
}
