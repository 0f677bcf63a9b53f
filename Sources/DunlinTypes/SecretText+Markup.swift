/// Secrets in XML, HTML and property lists, and those whose name is itself a value: `name="password" value="…"`.
///
/// What cannot be told for certain is hidden: a tag, an element or an object without an end hides the rest of the text.
/// So whatever is looked for without a limit is found, or hides all that follows, and the cost stays linear.
extension SecretText {
    /// How far from a name in an object a value is looked for.
    private static let longestPair = 256
    /// How long the name of an element may be.
    private static let longestTagName = 128

    enum Markup {
        case value(Range<Int>)
        /// The name is one of markup, and nothing of it is secret.
        case nothing
        /// The name is not one of markup.
        case other
    }

    /// What belongs to a secret name that is an element's, or the text of a `key` or `name` element with a value after
    /// it.
    static func markup(named name: Range<Int>, in bytes: [UInt8]) -> Markup {
        guard let tag = Tag(around: name, in: bytes) else {
            return value(afterNaming: name, in: bytes).map { .value($0) } ?? .other
        }
        if tag.isEnd { return .nothing }
        guard let end = endOfTag(in: bytes, from: name.upperBound) else {
            return .value(name.upperBound..<bytes.count)
        }
        if isPropertyListKey(tag, textAt: end, in: bytes) { return .nothing }
        if isClosed(bytes, end) { return .value(tag.name.upperBound..<end - 2) }
        let element = end..<endOfElement(bytes[tag.name], in: bytes, from: end)
        let hasAttributes = bytes[tag.name.upperBound..<end - 1].contains { !isBlank($0) }
        return .value(hasAttributes ? tag.name.upperBound..<element.upperBound : element)
    }

    private static let naming = ["name", "key", "property", "http-equiv"]
    private static let holding = ["value", "values", "content", "val"]
    /// Elements of HTML that have no end tag.
    private static let void = ["input", "meta", "param", "link", "img", "br", "hr"]
    private static let ofPropertyLists = [
        "string", "integer", "real", "data", "date", "array", "dict", "true", "false",
    ]

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}

// MARK: - Tags

extension SecretText {
    private struct Tag {
        let name: Range<Int>
        /// Whether it is an end tag.
        let isEnd: Bool

        /// The tag whose name has the given part; nil if that is no part of a tag's name.
        init?(around part: Range<Int>, in bytes: [UInt8]) {
            let earliest = max(0, part.lowerBound - longestTagName)
            guard let start = bytes[earliest..<part.lowerBound].lastIndex(where: { !Self.isOfName($0) }) else {
                return nil
            }
            self.init(from: start > 0 && bytes[start] == UInt8(ascii: "/") ? start - 1 : start, in: bytes)
        }

        /// The tag that begins at a position; nil if none does.
        init?(from start: Int, in bytes: [UInt8]) {
            guard start < bytes.count, bytes[start] == UInt8(ascii: "<") else { return nil }
            isEnd = start + 1 < bytes.count && bytes[start + 1] == UInt8(ascii: "/")
            let rest = bytes[start...].dropFirst(isEnd ? 2 : 1).prefix(2 * longestTagName)
            name = rest.startIndex..<(rest.firstIndex { !Self.isOfName($0) } ?? rest.endIndex)
            if name.isEmpty { return nil }
        }

        static func isOfName(_ byte: UInt8) -> Bool {
            isNameByte(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
        }
    }

    /// The position after the `>` of a tag; nil if there is none. What is quoted does not count.
    private static func endOfTag(in bytes: [UInt8], from position: Int) -> Int? {
        var quote: UInt8?
        for index in position..<bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if isQuote(byte) {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index + 1
            }
        }
        return nil
    }

    /// Whether the tag that ends at a position is its element's end too.
    private static func isClosed(_ bytes: [UInt8], _ end: Int) -> Bool { bytes[end - 2] == UInt8(ascii: "/") }

    /// The position of the end tag of an element whose text begins at a position; the end of all if it has none.
    private static func endOfElement(_ name: ArraySlice<UInt8>, in bytes: [UInt8], from start: Int) -> Int {
        var position = start
        var depth = 1
        while let next = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = bytes[next...].dropFirst()
            let ending = rest.starts(with: "!--".utf8) ? "-->" : rest.starts(with: "![CDATA[".utf8) ? "]]>" : nil
            if let ending {
                guard let end = bytes[next...].firstRange(of: Array(ending.utf8)) else { return bytes.count }
                position = end.upperBound
                continue
            }
            let isEnd = rest.first == UInt8(ascii: "/")
            let named = rest.dropFirst(isEnd ? 1 : 0)
            if named.starts(with: name), named.dropFirst(name.count).first.map(Tag.isOfName) != true {
                depth += isEnd ? -1 : 1
                if depth == 0 { return next }
            }
            position = next + 1
        }
        return bytes.count
    }

    /// Whether it is a `key` of a property list, whose text is a name.
    private static func isPropertyListKey(_ tag: Tag, textAt start: Int, in bytes: [UInt8]) -> Bool {
        guard bytes[tag.name].isWord("key"), let value = elementAfter(textAt: start, in: bytes) else { return false }
        return ofPropertyLists.contains { bytes[value.name].isWord($0) }
    }

    /// The content of the element after a `key` or `name` element that has the secret name in its text.
    private static func value(afterNaming name: Range<Int>, in bytes: [UInt8]) -> Range<Int>? {
        let nearby = bytes[max(0, name.lowerBound - longestTagName)..<name.lowerBound]
        guard let text = nearby.lastIndex(of: UInt8(ascii: ">")),
            let start = nearby[..<text].lastIndex(of: UInt8(ascii: "<")), let tag = Tag(from: start, in: bytes),
            !tag.isEnd, naming.contains(where: { bytes[tag.name].isWord($0) }),
            let value = elementAfter(textAt: name.upperBound, in: bytes)
        else { return nil }
        guard let content = endOfTag(in: bytes, from: value.name.upperBound) else {
            return value.name.upperBound..<bytes.count
        }
        return isClosed(bytes, content) ? nil : content..<endOfElement(bytes[value.name], in: bytes, from: content)
    }

    /// The element that follows the one whose text, which is short, has a position; nil if none does.
    private static func elementAfter(textAt position: Int, in bytes: [UInt8]) -> Tag? {
        guard let close = bytes[position...].prefix(longestTagName).firstIndex(of: UInt8(ascii: "<")),
            let tag = Tag(from: close, in: bytes), tag.isEnd,
            let end = bytes[tag.name.upperBound...].firstIndex(where: { !isBlank($0) }),
            bytes[end] == UInt8(ascii: ">"),
            let next = bytes[(end + 1)...].firstIndex(where: { !isBlank($0) }),
            let value = Tag(from: next, in: bytes), !value.isEnd
        else { return nil }
        return value
    }
}

// MARK: - Names that are values

extension SecretText {
    /// What is open at a position of a text.
    struct Opened {
        /// Where what is shown of the tag begins.
        private var tag: Int?
        /// Where what is shown of each object begins.
        private var objects: [Int] = []

        /// Notes a byte, after which so many are shown.
        mutating func note(_ byte: UInt8, _ count: Int) {
            switch byte {
            case UInt8(ascii: "<"): tag = count
            case UInt8(ascii: ">"): tag = nil
            case UInt8(ascii: "{"): objects.append(count)
            case UInt8(ascii: "}"): _ = objects.popLast()
            default: break
            }
        }

        /// The tag or object that says `name="password"` or `"key": "password"` at a secret name, and has a value
        /// beside it: where what is shown of it begins, and where it ends. Nil if there is none. `key` is itself such a
        /// name: whatever it says, it is hidden with the value.
        func named(by name: Range<Int>, in bytes: [UInt8], _ shown: [UInt8]) -> (shown: Int, end: Int)? {
            if naming.contains(where: { bytes[name].isWord($0) }) { return keyed(by: name, in: bytes, shown) }
            let nearby = bytes[max(0, name.lowerBound - longestTagName)..<name.lowerBound]
            guard let quote = nearby.lastIndex(where: { isQuote($0) || $0 == 0x0A }), isQuote(bytes[quote]),
                let (key, sign) = key(before: quote, in: bytes), naming.contains(where: { key.isWord($0) })
            else { return nil }
            if sign == UInt8(ascii: "=") { return tag.map { ($0, endOfNamedTag(in: bytes, from: name.upperBound)) } }
            guard let object = objects.last, hasValue(name, in: bytes, shown, since: object) else { return nil }
            return (object, endOfObject(in: bytes, from: name.upperBound, isQuoted: true))
        }

        private func keyed(by name: Range<Int>, in bytes: [UInt8], _ shown: [UInt8]) -> (shown: Int, end: Int)? {
            let next = bytes[name.upperBound...].prefix(longestTagName).first { !isQuote($0) && !isBlank($0) }
            if next == UInt8(ascii: "="), let tag, hasValue(name, in: bytes, shown, since: tag) {
                return endOfTag(in: bytes, from: name.upperBound).map { (tag, $0 - 1) } ?? (tag, bytes.count)
            }
            guard next == UInt8(ascii: ":"), let object = objects.last,
                hasValue(name, in: bytes, shown, since: object)
            else { return nil }
            // It is behind its opening quote.
            return (object, endOfObject(in: bytes, from: name.upperBound, isQuoted: true))
        }

        /// Whether there is a value near a name in a tag or object of which so much is shown.
        private func hasValue(
            _ name: Range<Int>, in bytes: [UInt8], _ shown: [UInt8], since start: Int
        ) -> Bool {
            let before = shown[max(start, shown.count - longestPair)...]
            let after = bytes[name.upperBound...].prefix(longestPair).prefix { $0 != UInt8(ascii: "}") }
            return [before, after].contains { text in holding.contains { text.hasKey($0) } }
        }
    }

    /// The key whose quoted value begins at a position, and the sign between them; nil if there is none.
    private static func key(before quote: Int, in bytes: [UInt8]) -> (ArraySlice<UInt8>, UInt8)? {
        func isFiller(_ byte: UInt8) -> Bool { isQuote(byte) || isBlank(byte) || byte == UInt8(ascii: "\\") }
        let nearby = bytes[max(0, quote - longestTagName)..<quote]
        guard let sign = nearby.lastIndex(where: { !isFiller($0) }), ":=".utf8.contains(bytes[sign]),
            let last = nearby[..<sign].lastIndex(where: { !isFiller($0) })
        else { return nil }
        let first = nearby[...last].lastIndex { !isNameByte($0) || $0 == UInt8(ascii: "\\") }
        return (bytes[(first.map { $0 + 1 } ?? nearby.startIndex)...last], bytes[sign])
    }

    /// The end of what a tag with a secret name says, from within the quoted name: of its element, if it has a text.
    private static func endOfNamedTag(in bytes: [UInt8], from position: Int) -> Int {
        guard let quote = bytes[position...].firstIndex(where: isQuote),
            let end = endOfTag(in: bytes, from: quote + 1),
            let start = bytes[..<position].lastIndex(of: UInt8(ascii: "<")), let tag = Tag(from: start, in: bytes)
        else { return bytes.count }
        if isClosed(bytes, end) || void.contains(where: { bytes[tag.name].isWord($0) }) { return end - 1 }
        return endOfElement(bytes[tag.name], in: bytes, from: end)
    }

    /// The position of the brace that closes an object, from within a quoted name; the end of the text if there is
    /// none, or if the object is written in a text itself, where quotes say nothing.
    private static func endOfObject(in bytes: [UInt8], from position: Int, isQuoted: Bool) -> Int {
        var index = position
        var depth = 0
        var isQuoted = isQuoted
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
    fileprivate func isWord(_ word: String) -> Bool {
        let own = lastIndex(of: UInt8(ascii: ":")).map { self[($0 + 1)...] } ?? self
        return own.elementsEqual(word.utf8) { $0 | 0x20 == $1 | 0x20 }
    }

    /// Whether it has this word, given in lower case, as a key with something after it.
    fileprivate func hasKey(_ word: String) -> Bool {
        indices.contains { index in
            guard index == startIndex || !SecretText.isNameByte(self[index - 1]),
                self[index...].prefix(word.utf8.count).isWord(word)
            else { return false }
            let rest = self[index...].dropFirst(word.utf8.count)
            let sign = rest.first { !($0 <= 0x20 || $0 == 0x22 || $0 == 0x27 || $0 == 0x5C) }
            return sign == UInt8(ascii: ":") || sign == UInt8(ascii: "=")
        }
    }
}
