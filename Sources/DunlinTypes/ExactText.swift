/// Text compared byte by byte, as servers do. Swift considers `é` in one scalar and in two equal.
extension String {
    package func hasSameBytes(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
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

extension Hasher {
    package mutating func combine(bytesOf text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        // The byte never occurs in UTF-8, so it separates one text from the next.
        combine(0xFF as UInt8)
    }
}
