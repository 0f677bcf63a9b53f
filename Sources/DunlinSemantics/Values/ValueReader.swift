internal import DunlinTypes

/// Reads one field value from its beginning to its end (RFC 9110 §5.6, RFC 8941 §4.2).
///
/// Each `take` either reads what it is named after and moves on, or says nil or false and stays where it is.
struct ValueReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ value: Bytes) {
        bytes = value.array
    }

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    var isAtEnd: Bool { position == bytes.count }
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        take(UInt8(ascii: character))
    }

    /// Takes bytes while `belongs` is true; none if it is false for the first.
    @inline(__always)
    mutating func takeAll(where belongs: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, belongs(bytes[position]) { position += 1 }
        return bytes[start..<position]
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Skips spaces and tabs.
    mutating func skipBlanks() {
        _ = takeAll(where: Self.isBlank)
    }

    mutating func token() -> String? {
        let token = takeAll(where: TokenCharacters.contains)
        return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
    }

    /// Takes a number of digits only, at most `Int.max`.
    mutating func number() -> Int? {
        let start = position
        let digits = takeAll { $0 &- 0x30 < 10 }
        guard !digits.isEmpty, let number = Int(String(decoding: digits, as: UTF8.self)) else {
            position = start
            return nil
        }
        return number
    }

    /// Takes the text between quotes, without the backslashes that quote single characters (RFC 9110 §5.6.4).
    /// `mayBeCut`: the end of the value ends it, too.
    mutating func quotedString(mayBeCut: Bool = false) -> [UInt8]? {
        let start = position
        guard take("\"") else { return nil }
        var content: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return content }
            if byte == UInt8(ascii: "\\"), let quoted = next {
                position += 1
                content.append(quoted)
            } else {
                content.append(byte)
            }
        }
        if mayBeCut { return content }
        position = start
        return nil
    }
}
