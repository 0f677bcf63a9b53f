internal import FoundationEssentials

/// UUIDs as text: `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
extension UUID {
    /// Creates a UUID from text in either case; nil for anything else.
    init?(text: Span<UInt8>) {
        guard text.count == 36 else { return nil }
        var words = (UInt64(0), UInt64(0))
        var digits = 0
        for position in 0..<36 {
            let byte = text[position]
            if position == 8 || position == 13 || position == 18 || position == 23 {
                if byte != UInt8(ascii: "-") { return nil }
                continue
            }
            guard let digit = JSONEscapes.digit(byte) else { return nil }
            if digits < 16 { words.0 = words.0 << 4 | UInt64(digit) } else { words.1 = words.1 << 4 | UInt64(digit) }
            digits += 1
        }
        let (high, low) = (words.0.bigEndian, words.1.bigEndian)
        self = withUnsafeBytes(of: (high, low)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The UUID in upper case, with quotes.
    var quoted: Bytes {
        withUnsafeBytes(of: uuid) { bytes in
            let text = [UInt8](unsafeUninitializedCapacity: 38) { text, count in
                text[0] = UInt8(ascii: "\"")
                count = 1
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[count] = UInt8(ascii: "-")
                        count += 1
                    }
                    text[count] = Self.digit(byte >> 4)
                    text[count + 1] = Self.digit(byte & 15)
                    count += 2
                }
                text[count] = UInt8(ascii: "\"")
                count += 1
            }
            return Bytes(text)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x37 + value
    }
}
