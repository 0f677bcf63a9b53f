/// Secrets whose name is itself a value: `name="password" value="…"` in a tag, `"key": "password"` in an object.
extension SecretText {
    static let naming = ["name", "key", "property", "http-equiv"]
    /// They begin with a `v` or a `c`, which `isHolding` relies on.
    private static let holding = ["value", "values", "content", "val"]
    /// How far behind a name in an object a value is looked for.
    private static let longestPair = 256
    /// How far before a name its key may be.
    private static let longestKey = 128

    /// What is open at a position of a text.
    struct Opened {
        private struct Object {
            /// Where what is shown of it begins.
            let start: Int
            var hasValue = false
        }

        private var tag: Object?
        private var objects: [Object] = []
        /// Whether the position is within double quotes, which no line end is in.
        private var isQuoted = false
        /// The quote that an attribute's value began with, and has not ended with.
        private var quote: UInt8?

        /// Notes the byte at a position, with which so many are shown.
        mutating func note(_ position: Int, in bytes: [UInt8], _ count: Int) {
            let byte = bytes[position]
            let before = position > 0 ? bytes[position - 1] : 0
            if byte == 0x0A { isQuoted = false }
            if byte == UInt8(ascii: "\""), before != UInt8(ascii: "\\") { isQuoted.toggle() }
            if tag != nil {
                if quote == byte {
                    quote = nil
                } else if quote == nil, isQuote(byte), before == UInt8(ascii: "=") {
                    quote = byte
                }
            }
            switch byte {
            case UInt8(ascii: "<"): (tag, quote) = (Object(start: count), nil)
            case UInt8(ascii: ">") where quote == nil: tag = nil
            // One in a text has quotes that are escaped.
            case UInt8(ascii: "{") where !isQuoted || bytes[position...].dropFirst().first == UInt8(ascii: "\\"):
                objects.append(Object(start: count))
            case UInt8(ascii: "}") where !isQuoted: _ = objects.popLast()
            default: break
            }
        }

        /// Notes a name, which may be that of a value.
        mutating func note(name: Range<Int>, in bytes: [UInt8]) {
            guard isHolding(bytes[name]) else { return }
            switch sign(after: name, in: bytes) {
            case UInt8(ascii: "="): tag?.hasValue = true
            case UInt8(ascii: ":"): if !objects.isEmpty { objects[objects.count - 1].hasValue = true }
            default: break
            }
        }

        /// Forgets what began in the part that is no longer shown, up to the end of a tag or object.
        mutating func cut(to count: Int) {
            if let tag, tag.start > count { self.tag = nil }
            objects.removeAll { $0.start > count }
            (isQuoted, quote) = (false, nil)
        }

        /// The tag or object that says `name="password"` or `"key": "password"` at a secret name, and has a value
        /// beside it, or is so long that nobody can tell: where what is shown of it begins, and where it ends. Nil if
        /// there is none. `key` is itself a secret name, and what it says may be another.
        func named(
            by name: Range<Int>, in bytes: [UInt8], isSecret: (ArraySlice<UInt8>) -> Bool
        ) -> (shown: Int, end: Int)? {
            if naming.contains(where: { bytes[name].isWord($0) }) {
                return isSecret(text(after: name, in: bytes)) ? keyed(by: name, in: bytes) : nil
            }
            if let tag, isAttribute(name, in: bytes) {
                return (tag.start, endOfNamedTag(in: bytes, from: name.upperBound))
            }
            guard let (key, sign) = key(before: name, in: bytes), naming.contains(where: { key.isWord($0) }) else {
                return nil
            }
            if sign == UInt8(ascii: "=") {
                return tag.map { ($0.start, endOfNamedTag(in: bytes, from: name.upperBound)) }
            }
            let ahead = bytes[name.upperBound...].prefix(longestPair)
            let isCut = ahead.count == longestPair && !ahead.contains(UInt8(ascii: "}"))
            guard let object = objects.last, object.hasValue || isCut || hasValue(ahead, in: bytes) else { return nil }
            return (object.start, endOfObject(in: bytes, from: name.upperBound))
        }

        private func keyed(by name: Range<Int>, in bytes: [UInt8]) -> (shown: Int, end: Int)? {
            let ahead = bytes[name.upperBound...].prefix(longestPair)
            switch sign(after: name, in: bytes) {
            case UInt8(ascii: "="):
                guard let tag, tag.hasValue || hasValue(ahead, in: bytes) else { return nil }
                return (tag.start, endOfTag(in: bytes, from: name.upperBound).map { $0 - 1 } ?? bytes.count)
            case UInt8(ascii: ":"):
                guard let object = objects.last, object.hasValue || hasValue(ahead, in: bytes) else { return nil }
                return (object.start, endOfObject(in: bytes, from: name.upperBound))
            default: return nil
            }
        }

        private func hasValue(_ ahead: ArraySlice<UInt8>, in bytes: [UInt8]) -> Bool {
            let own = ahead.prefix { $0 != UInt8(ascii: "}") }
            var position = own.startIndex
            while let start = own[position...].firstIndex(where: isNameByte) {
                let end = own[start...].firstIndex { !isNameByte($0) } ?? own.endIndex
                if isHolding(bytes[start..<end]), sign(after: start..<end, in: bytes) != nil { return true }
                position = end
            }
            return false
        }
    }

    /// The text that a name stands before, as far as it may be a name.
    private static func text(after name: Range<Int>, in bytes: [UInt8]) -> ArraySlice<UInt8> {
        let rest = bytes[name.upperBound...].prefix(longestKey).drop {
            isQuote($0) || isBlank($0) || ":=\\".utf8.contains($0)
        }
        return rest.prefix { !isQuote($0) && !",{}<>".utf8.contains($0) }
    }

    private static func isHolding(_ name: ArraySlice<UInt8>) -> Bool {
        guard let first = name.first, first | 0x20 == UInt8(ascii: "v") || first | 0x20 == UInt8(ascii: "c") else {
            return false
        }
        // Escaped as a text in a text, it ends with a backslash.
        let word = name.last == UInt8(ascii: "\\") ? name.dropLast() : name
        return holding.contains { word.isWord($0) }
    }

    /// The colon or equals sign after a name; nil if neither follows.
    private static func sign(after name: Range<Int>, in bytes: [UInt8]) -> UInt8? {
        let next = bytes[name.upperBound...].prefix(longestKey).first {
            !isQuote($0) && !isBlank($0) && $0 != UInt8(ascii: "\\")
        }
        return next.flatMap { ":=".utf8.contains($0) ? $0 : nil }
    }

    /// Whether a name is an attribute's value without quotes, of an attribute that names.
    private static func isAttribute(_ name: Range<Int>, in bytes: [UInt8]) -> Bool {
        let nearby = bytes[max(0, name.lowerBound - longestKey)..<name.lowerBound]
        guard let sign = nearby.lastIndex(where: { isBlank($0) || isQuote($0) || ":=<>".utf8.contains($0) }),
            bytes[sign] == UInt8(ascii: "=")
        else { return false }
        return naming.contains { word(endingAt: sign, in: nearby).isWord($0) }
    }

    /// The key of a quoted value that has the name in it, and the sign between them; nil if there is none.
    private static func key(before name: Range<Int>, in bytes: [UInt8]) -> (ArraySlice<UInt8>, UInt8)? {
        func isFiller(_ byte: UInt8) -> Bool { isQuote(byte) || isBlank(byte) || byte == UInt8(ascii: "\\") }
        let nearby = bytes[max(0, name.lowerBound - longestKey)..<name.lowerBound]
        guard let quote = nearby.lastIndex(where: { isQuote($0) || $0 == 0x0A }), isQuote(bytes[quote]),
            let sign = nearby[..<quote].lastIndex(where: { !isFiller($0) }), ":=".utf8.contains(bytes[sign]),
            let last = nearby[..<sign].lastIndex(where: { !isFiller($0) })
        else { return nil }
        return (word(endingAt: last + 1, in: nearby), bytes[sign])
    }

    /// The word of name bytes that ends before a position; it may be empty.
    private static func word(endingAt end: Int, in nearby: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let before = nearby[..<end]
        let first = before.lastIndex { !isNameByte($0) || $0 == UInt8(ascii: "\\") }.map { $0 + 1 }
        return before[(first ?? before.startIndex)...]
    }

    /// The end of what a tag with a secret name says, from within that name: of its element, if it has a text.
    private static func endOfNamedTag(in bytes: [UInt8], from position: Int) -> Int {
        // A quoted name ends with the quote that it began with; one without quotes has none.
        let rest = bytes[position...].firstIndex { isQuote($0) || $0 == UInt8(ascii: ">") } ?? bytes.count
        guard rest < bytes.count, let end = endOfTag(in: bytes, from: isQuote(bytes[rest]) ? rest + 1 : rest) else {
            return bytes.count
        }
        return endOfElement(aroundTagAt: position, endingAt: end, in: bytes)
    }

    /// The position of the brace that closes an object, from within a quoted name; the end of the text if there is
    /// none, or if the object is written in a text itself, where quotes say nothing.
    private static func endOfObject(in bytes: [UInt8], from position: Int) -> Int {
        var index = position
        var depth = 0
        var isQuoted = true
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\\"):
                if !isQuoted { return bytes.count }
                index += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "{") where !isQuoted: depth += 1
            case UInt8(ascii: "}") where !isQuoted:
                if depth == 0 { return index }
                depth -= 1
            default: break
            }
            index += 1
        }
        return bytes.count
    }
}

extension ArraySlice<UInt8> {
    /// Whether it is this word, given in lower case, ignoring case, and a prefix up to a colon.
    func isWord(_ word: String) -> Bool {
        let own = lastIndex(of: UInt8(ascii: ":")).map { self[($0 + 1)...] } ?? self
        return own.elementsEqual(word.utf8) { $0 | 0x20 == $1 | 0x20 }
    }
}
