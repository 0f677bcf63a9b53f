internal import Dunlin

extension XML.Reader {
    /// Reads text up to the next markup; nil if it is not an event: white space around the root, or references to empty
    /// entities.
    mutating func text() throws(XML.Error) -> XML.Event? {
        guard case .inRoot = stage else {
            guard skipSpace() else { throw error(.notWellFormed) }
            return nil
        }
        var text = ""
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            if bytes[position] == UInt8(ascii: "&") { text += try reference() } else { text += try plainText() }
        }
        try checkMarks(in: text.utf8)
        return text.isEmpty ? nil : .text(text)
    }

    /// Reads text up to markup or a reference.
    private mutating func plainText() throws(XML.Error) -> String {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "<"), bytes[position] != UInt8(ascii: "&") {
            // §2.4: it would look like the end of a CDATA section.
            if bytes[position] == UInt8(ascii: "]"), isAt("]]>") { throw error(.notWellFormed) }
            position += 1
        }
        return Self.lines(bytes[start..<position])
    }

    /// Reads an attribute's value. White space becomes spaces (§3.3.3), unless it came from a character reference.
    mutating func attributeValue() throws(XML.Error) -> String {
        guard position < bytes.count else { throw error(.endsEarly) }
        let quote = bytes[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw error(.notWellFormed) }
        position += 1
        var value: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case quote:
                position += 1
                try checkMarks(in: value)
                return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "<"): throw error(.notWellFormed)
            case UInt8(ascii: "&"):
                value += Array(try reference().utf8)
                continue
            case UInt8(ascii: "\n") where bytes[position - 1] == UInt8(ascii: "\r"): break
            default: value.append(Self.isSpace(byte) ? UInt8(ascii: " ") : byte)
            }
            position += 1
        }
        throw error(.endsEarly)
    }

    /// Reads a reference from `&` to after `;`.
    private mutating func reference() throws(XML.Error) -> String {
        let start = position
        position += 1
        if skip("#") { return String(try character()) }
        let name = try plainName()
        guard skip(";") else { throw error(position < bytes.count ? .invalidReference : .endsEarly) }
        do throws(EntityTable.EntityProblem) {
            return try entities.text(of: name)
        } catch {
            position = start
            throw self.error(error.problem)
        }
    }

    /// Reads the rest of a character reference, from after `&#` to after `;`.
    mutating func character() throws(XML.Error) -> Unicode.Scalar {
        let start = position
        let radix = skip("x") ? 16 : 10
        let digits = try text(before: ";")
        // Ten digits are enough for every character, and cannot overflow.
        guard (1...10).contains(digits.count),
            let value = Self.number(String(decoding: digits, as: UTF8.self), radix: radix),
            let scalar = Unicode.Scalar(value), XMLCharacters.isAllowed(scalar)
        else {
            position = start
            throw error(.invalidReference)
        }
        return scalar
    }
}
