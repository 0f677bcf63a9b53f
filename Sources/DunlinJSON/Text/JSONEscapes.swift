/// The escapes in a JSON text (RFC 8259 §7), resolved.
enum JSONEscapes {
    /// Writes the meaning of the bytes between two quotes. They must be well-formed; the result is never longer than
    /// they are. Returns its length.
    static func resolve(_ bytes: Span<UInt8>, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var count = 0
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                buffer[count] = byte
                count += 1
                continue
            }
            let letter = bytes[position]
            position += 1
            guard letter == UInt8(ascii: "u") else {
                buffer[count] = meaning(of: letter) ?? letter
                count += 1
                continue
            }
            for unit in UTF8.encode(scalar(bytes, &position)) ?? UTF8.encodedReplacementCharacter {
                buffer[count] = unit
                count += 1
            }
        }
        return count
    }

    /// The end of the first `limit` bytes between two quotes, or a little before, so that no character or escape is
    /// cut.
    static func end(of bytes: Span<UInt8>, atMost limit: Int) -> Int {
        var end = 0
        var position = 0
        while position <= min(limit, bytes.count) {
            end = position
            guard position < bytes.count else { break }
            let isEscape = bytes[position] == UInt8(ascii: "\\")
            position += 1
            if isEscape {
                let letter = bytes[position]
                position += 1
                if letter == UInt8(ascii: "u") { _ = scalar(bytes, &position) }
            } else {
                while position < bytes.count, bytes[position] & 0xC0 == 0x80 { position += 1 }
            }
        }
        return end
    }

    /// The byte that a letter after a backslash means; nil for `u`, which begins four digits, and for invalid ones.
    static func meaning(of letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte) - 0x30
        case 0x41...0x46: UInt32(byte) - 0x41 + 10
        case 0x61...0x66: UInt32(byte) - 0x61 + 10
        default: nil
        }
    }

    /// The scalar of a surrogate pair: one above U+FFFF takes two escapes (RFC 8259 §7).
    static func scalar(high: UInt32, low: UInt32) -> UInt32 {
        0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
    }

    static func isHigh(_ unit: UInt32) -> Bool { unit & 0xFC00 == 0xD800 }
    static func isLow(_ unit: UInt32) -> Bool { unit & 0xFC00 == 0xDC00 }

    private static func scalar(_ bytes: Span<UInt8>, _ position: inout Int) -> Unicode.Scalar {
        var value = unit(bytes, &position)
        if isHigh(value) {
            position += 2
            value = scalar(high: value, low: unit(bytes, &position))
        }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private static func unit(_ bytes: Span<UInt8>, _ position: inout Int) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            unit = unit << 4 | (digit(bytes[position]) ?? 0)
            position += 1
        }
        return unit
    }
}
