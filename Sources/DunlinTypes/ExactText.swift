/// A text that equals only a text of the same bytes.
///
/// Swift's strings are equal if they look the same: `é` in one scalar and in two. Servers, files and the kernel compare
/// bytes, and so must whatever says who asks, what is asked for or where it goes.
package struct ExactText: Sendable, Hashable {
    package let string: String

    package init(_ string: String) {
        self.string = string
    }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.string.hasSameBytes(as: right.string) }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: string) }
}

/// Text compared byte by byte.
extension String {
    package func hasSameBytes(as other: String) -> Bool {
        let (left, right) = (utf8.span, other.utf8.span)
        guard left.count == right.count else { return false }
        return left.withUnsafeBytes { left in right.withUnsafeBytes { right in Bytes.same(left, right) } }
    }

    /// Whether the text precedes another by UTF-16 code units, in which AFNetworking sorts keys.
    ///
    /// This is the order of UTF-8 bytes, except that scalars above U+FFFF precede U+E000, as their surrogates do.
    package func precedesInUTF16(_ other: String) -> Bool {
        var (left, right) = (utf8.makeIterator(), other.utf8.makeIterator())
        while let a = left.next() {
            guard let b = right.next() else { return false }
            if a == b { continue }
            if a >= 0xF0, b == 0xEE || b == 0xEF { return true }
            if b >= 0xF0, a == 0xEE || a == 0xEF { return false }
            return a < b
        }
        return right.next() != nil
    }
}

extension StringProtocol {
    /// The parts between bytes of ASCII, also before a combining mark: with that, `split` takes a byte for another
    /// character.
    package func parts(at separator: UInt8) -> [SubSequence] {
        var parts: [SubSequence] = []
        var start = startIndex
        for index in utf8.indices where utf8[index] == separator {
            parts.append(self[start..<index])
            start = utf8.index(after: index)
        }
        return parts + [self[start...]]
    }

    /// The text as one word of a shell: in single quotes everything stands for itself, and a single quote is written
    /// outside of them.
    package var inSingleQuotes: String {
        "'" + parts(at: UInt8(ascii: "'")).joined(separator: #"'\''"#) + "'"
    }
}

extension String? {
    package func hasSameBytes(as other: String?) -> Bool {
        map { ExactText($0) } == other.map { ExactText($0) }
    }
}

extension Hasher {
    package mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        // The byte never occurs in UTF-8, so it separates one text from the next.
        combine(0xFF as UInt8)
    }
}
