internal import DunlinTypes

/// Reads a dictionary of structured fields (RFC 8941 §4.2.2): whole and by the letter, or not at all.
///
/// Of values only byte sequences are kept; the others are checked and passed over, as are parameters. What RFC 8941
/// lets a reader be lenient about in Base64 is one thing here: missing padding is none.
struct StructuredReader {
    enum Value: Equatable {
        case bytes([UInt8])
        case other
    }

    private var reader: ValueReader

    init(_ value: Bytes) {
        reader = ValueReader(value)
    }

    /// Reads a dictionary; nil if it is malformed. Of two members with one name the later counts.
    mutating func dictionary() -> [String: Value]? {
        var members: [String: Value] = [:]
        skipSpaces()
        while !reader.isAtEnd {
            guard let key = key(), let value = reader.take("=") ? item() : .other, parameters() else { return nil }
            members[key] = value
            reader.skipBlanks()
            if reader.isAtEnd { return members }
            guard reader.take(",") else { return nil }
            reader.skipBlanks()
            // A comma must be followed by a member.
            if reader.isAtEnd { return nil }
        }
        return members
    }

    private mutating func item() -> Value? {
        guard reader.next == UInt8(ascii: "(") else { return bareItem() }
        _ = reader.take("(")
        while true {
            skipSpaces()
            if reader.take(")") { return .other }
            guard bareItem() != nil, parameters() else { return nil }
            guard let next = reader.next, next == 0x20 || next == UInt8(ascii: ")") else { return nil }
        }
    }

    private mutating func parameters() -> Bool {
        while reader.take(";") {
            skipSpaces()
            guard key() != nil else { return false }
            if reader.take("="), bareItem() == nil { return false }
        }
        return true
    }

    private mutating func skipSpaces() {
        _ = reader.takeAll { $0 == 0x20 }
    }
}

// MARK: - Items

extension StructuredReader {
    private mutating func key() -> String? {
        guard let first = reader.next, Self.isLower(first) || first == UInt8(ascii: "*") else { return nil }
        let key = reader.takeAll {
            Self.isLower($0) || Self.isDigit($0) || "_-.*".utf8.contains($0)
        }
        return String(decoding: key, as: UTF8.self)
    }

    private mutating func bareItem() -> Value? {
        guard let first = reader.next else { return nil }
        switch first {
        case UInt8(ascii: ":"): return byteSequence().map { .bytes($0) }
        case UInt8(ascii: "\""): return isString() ? .other : nil
        case UInt8(ascii: "?"):
            _ = reader.take("?")
            return reader.take("0") || reader.take("1") ? .other : nil
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return isNumber() ? .other : nil
        case _ where Self.isLower(first | 0x20) || first == UInt8(ascii: "*"):
            _ = reader.takeAll { TokenCharacters.contains($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            return .other
        default: return nil
        }
    }

    private mutating func byteSequence() -> [UInt8]? {
        guard reader.take(":") else { return nil }
        var text = Array(reader.takeAll { $0 != UInt8(ascii: ":") })
        guard reader.take(":") else { return nil }
        if !text.contains(UInt8(ascii: "=")) {
            text += [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
        }
        return Base64.decode(text)
    }

    private mutating func isString() -> Bool {
        guard reader.take("\"") else { return false }
        while let byte = reader.next, 0x20...0x7E ~= byte {
            _ = reader.take(byte)
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\"), !reader.take("\""), !reader.take("\\") { return false }
        }
        return false
    }

    /// Reads a number of up to 15 digits, or up to 12, a point, and up to 3.
    private mutating func isNumber() -> Bool {
        _ = reader.take("-")
        let whole = reader.takeAll(where: Self.isDigit).count
        guard reader.take(".") else { return 1...15 ~= whole }
        return 1...12 ~= whole && 1...3 ~= reader.takeAll(where: Self.isDigit).count
    }

    private static func isLower(_ byte: UInt8) -> Bool { byte &- 0x61 < 26 }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
