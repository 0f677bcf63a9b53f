/// Text as servers compare it: bytes. Swift's own comparison takes `é` in one scalar and in two for the same.
extension String {
    package func hasSameBytes(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }

    /// In the order of UTF-16 code units, which is that of AFNetworking's keys.
    ///
    /// It is the order of UTF-8's bytes, but for scalars above U+FFFF: their surrogates come before U+E000.
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
        // No text has it, so that it parts one from the next.
        combine(0xFF as UInt8)
    }
}
