package import DunlinTypes

/// Reads a dictionary or a list of structured fields (RFC 8941 §4.2): whole and by the letter, or not at all.
///
/// Of values those are kept that somebody asks for; the others are checked and passed over. What RFC 8941 lets a reader
/// be lenient about in Base64 is one thing here: missing padding is none.
package struct StructuredReader {
    package enum Value: Equatable {
        case bytes([UInt8])
        case integer(Int64)
        /// A string or a token.
        case text(String)
        case other
    }

    /// A member of a list. Of two parameters with one name the later counts.
    package struct Member: Equatable {
        package var value: Value
        package var parameters: [String: Value]

        package init(value: Value, parameters: [String: Value]) {
            self.value = value
            self.parameters = parameters
        }
    }

    private var reader: ValueReader

    /// Creates a reader. Several fields of one name are one (RFC 9110 §5.3).
    package init(_ values: [Bytes]) {
        reader = ValueReader(Bytes(values.map(\.array).joined(separator: ", ".utf8)))
    }

    /// Reads a dictionary; nil if it is malformed. Of two members with one name the later counts.
    package mutating func dictionary() -> [String: Value]? {
        var members: [String: Value] = [:]
        let isWhole = readAll { reader in
            guard let key = reader.key(), let value = reader.reader.take("=") ? reader.item() : .other,
                reader.parameters() != nil
            else { return false }
            members[key] = value
            return true
        }
        return isWhole ? members : nil
    }

    /// Reads a list; nil if it is malformed.
    package mutating func list() -> [Member]? {
        var members: [Member] = []
        let isWhole = readAll { reader in
            guard let value = reader.item(), let parameters = reader.parameters() else { return false }
            members.append(Member(value: value, parameters: parameters))
            return true
        }
        return isWhole ? members : nil
    }

    /// Reads members up to the end; false if one is malformed.
    private mutating func readAll(_ readMember: (inout Self) -> Bool) -> Bool {
        skipSpaces()
        while !reader.isAtEnd {
            guard readMember(&self) else { return false }
            reader.skipBlanks()
            if reader.isAtEnd { return true }
            guard reader.take(",") else { return false }
            reader.skipBlanks()
            // A comma must be followed by a member.
            if reader.isAtEnd { return false }
        }
        return true
    }

    private mutating func item() -> Value? {
        guard reader.next == UInt8(ascii: "(") else { return bareItem() }
        _ = reader.take("(")
        while true {
            skipSpaces()
            if reader.take(")") { return .other }
            guard bareItem() != nil, parameters() != nil else { return nil }
            guard let next = reader.next, next == 0x20 || next == UInt8(ascii: ")") else { return nil }
        }
    }

    private mutating func parameters() -> [String: Value]? {
        var parameters: [String: Value] = [:]
        while reader.take(";") {
            skipSpaces()
            guard let key = key(), let value = reader.take("=") ? bareItem() : .other else { return nil }
            parameters[key] = value
        }
        return parameters
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
        case UInt8(ascii: "\""): return string().map { .text($0) }
        case UInt8(ascii: "?"):
            _ = reader.take("?")
            return reader.take("0") || reader.take("1") ? .other : nil
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case _ where Self.isLower(first | 0x20) || first == UInt8(ascii: "*"):
            let token = reader.takeAll {
                TokenCharacters.contains($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/")
            }
            return .text(String(decoding: token, as: UTF8.self))
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

    private mutating func string() -> String? {
        guard reader.take("\"") else { return nil }
        var text: [UInt8] = []
        while var byte = reader.next, 0x20...0x7E ~= byte {
            _ = reader.take(byte)
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard let quoted = reader.next, reader.take("\"") || reader.take("\\") else { return nil }
                byte = quoted
            }
            text.append(byte)
        }
        return nil
    }

    /// Reads a number of up to 15 digits, or up to 12, a point, and up to 3. Only the first is an integer.
    private mutating func number() -> Value? {
        let isNegative = reader.take("-")
        let whole = reader.takeAll(where: Self.isDigit)
        guard reader.take(".") else {
            guard 1...15 ~= whole.count else { return nil }
            let number = whole.reduce(0) { $0 * 10 + Int64($1 &- 0x30) }
            return .integer(isNegative ? -number : number)
        }
        return 1...12 ~= whole.count && 1...3 ~= reader.takeAll(where: Self.isDigit).count ? .other : nil
    }

    private static func isLower(_ byte: UInt8) -> Bool { byte &- 0x61 < 26 }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
}
