internal import DunlinTypes

/// The parts of challenges and of what is said of answers (RFC 9110 §11.2 and §11.3).
extension ValueReader {
    /// Whether only blanks are left before the next comma or the end.
    var isAtElementEnd: Bool {
        var reader = self
        reader.skipBlanks()
        return reader.isAtEnd || reader.next == UInt8(ascii: ",")
    }

    /// Reads an element that is a parameter; its name is in lower case. On nil the reader is somewhere within it.
    mutating func parameter() -> (name: String, value: Bytes)? {
        guard let name = token()?.lowercased() else { return nil }
        skipBlanks()
        guard take("=") else { return nil }
        skipBlanks()
        guard let value = quotedString() ?? token().map({ Array($0.utf8) }), isAtElementEnd,
            !value.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F })
        else { return nil }
        return (name, Bytes(value))
    }

    mutating func token68() -> String? {
        let token = takeAll { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-._~+/".utf8.contains(byte)
            }
        }
        let padding = takeAll { $0 == UInt8(ascii: "=") }
        return token.isEmpty ? nil : String(decoding: token + padding, as: UTF8.self)
    }

    /// Skips to the next comma outside of quotes, or to the end.
    mutating func skipElement() {
        while true {
            _ = takeAll { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
            if next != UInt8(ascii: "\"") { return }
            if quotedString() == nil { _ = takeAll { _ in true } }
        }
    }
}
