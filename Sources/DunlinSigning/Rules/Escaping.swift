/// Percent-encoding as signatures want it: everything but letters, digits and `-._~`, in upper-case digits.
enum Escaping {
    private static let digits = Array("0123456789ABCDEF".utf8)

    static func escaped(_ bytes: some Sequence<UInt8>, keepingSlashes: Bool) -> [UInt8] {
        var escaped: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) || (keepingSlashes && byte == UInt8(ascii: "/")) {
                escaped.append(byte)
            } else {
                escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return escaped
    }

    /// What the text means. A plus sign stays one, and so does a `%` without two digits.
    static func unescaped(_ text: some Collection<UInt8>) -> [UInt8] {
        let text = Array(text)
        var (bytes, index): ([UInt8], Int) = ([], 0)
        while index < text.count {
            if text[index] == UInt8(ascii: "%"), index + 2 < text.count,
                let high = value(text[index + 1]), let low = value(text[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
