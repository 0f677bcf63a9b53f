/// The bytes of a text that are not escaped or special.
enum JSONPlainText {
    /// The position, from `position` on, of the first quote, backslash, control character or non-ASCII byte; `end` if
    /// there is none.
    ///
    /// It examines eight bytes at a time.
    static func end(_ text: Span<UInt8>, _ position: Int, _ end: Int) -> Int {
        var position = position
        let bytes = text.bytes
        while position + 8 <= end {
            let word = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
            let signs = signs(in: word)
            if signs != 0 { return position + signs.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < end, isPlain(text[position]) { position += 1 }
        return position
    }

    /// Whether the text has these bytes at `offset`.
    static func isEqual(_ text: Span<UInt8>, _ offset: Int, _ other: UnsafeRawBufferPointer) -> Bool {
        let bytes = text.bytes
        var position = 0
        while position + 8 <= other.count {
            let word = bytes.unsafeLoadUnaligned(fromByteOffset: offset + position, as: UInt64.self)
            if word != other.loadUnaligned(fromByteOffset: position, as: UInt64.self) { return false }
            position += 8
        }
        while position < other.count {
            if text[offset + position] != other[position] { return false }
            position += 1
        }
        return true
    }

    /// Whether a byte stands for itself in a text.
    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// The highest bit of each byte that is not plain. Only the lowest set bit is reliable.
    private static func signs(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let found =
            ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((word &- (ones &* 0x20)) & ~word) | word
        return found & (ones &* 0x80)
    }

    /// The number of bytes of the non-ASCII character at `position` (table in RFC 3629 §4); 0 if it is invalid.
    static func scalarLength(_ text: Span<UInt8>, _ position: Int, _ end: Int) -> Int {
        func follows(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            position + offset < end && range.contains(text[position + offset])
        }
        switch text[position] {
        case 0xC2...0xDF: return follows(1) ? 2 : 0
        case 0xE0: return follows(1, 0xA0...0xBF) && follows(2) ? 3 : 0
        case 0xED: return follows(1, 0x80...0x9F) && follows(2) ? 3 : 0
        case 0xE1...0xEF: return follows(1) && follows(2) ? 3 : 0
        case 0xF0: return follows(1, 0x90...0xBF) && follows(2) && follows(3) ? 4 : 0
        case 0xF1...0xF3: return follows(1) && follows(2) && follows(3) ? 4 : 0
        case 0xF4: return follows(1, 0x80...0x8F) && follows(2) && follows(3) ? 4 : 0
        default: return 0
        }
    }
}
