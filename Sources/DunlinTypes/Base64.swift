/// Base64 of RFC 4648 §4, strictly: padded, no stray bits, nothing but the alphabet.
package enum Base64 {
    package static func encode(_ bytes: borrowing Bytes) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let group =
                UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[index + 2]) : 0)
            for position in 0..<4 {
                let shift = UInt32(18 - 6 * position)
                text.append(position <= left ? letter(UInt8(group >> shift & 63)) : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes Base64; nil for anything that `encode` would not have written.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var letters = 0
        var padding = 0
        for byte in text {
            if byte == UInt8(ascii: "=") {
                padding += 1
                group <<= 6
            } else {
                guard padding == 0, let value = value(byte) else { return nil }
                group = group << 6 | UInt32(value)
            }
            letters += 1
            guard letters == 4 else { continue }
            guard padding <= 2, group & (padding == 2 ? 0xFFFF : padding == 1 ? 0xFF : 0) == 0 else { return nil }
            for position in 0..<3 - padding {
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * position)))
            }
            group = 0
            letters = 0
        }
        return bytes
    }

    private static func letter(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    private static func value(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
