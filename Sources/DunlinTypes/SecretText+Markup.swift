/// Secrets in XML, HTML and property lists.
///
/// What cannot be told for certain is hidden: a tag, an element or an object without an end hides the rest of the text.
/// So whatever is looked for without a limit is found, or hides all that follows, and the cost stays linear.
extension SecretText {
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
    /// it. `isSecret` judges other names.
    static func markup(
        named name: Range<Int>, in bytes: [UInt8], isSecret: (ArraySlice<UInt8>) -> Bool
    ) -> Markup {
        guard let tag = Tag(around: name, in: bytes) else {
            return value(afterNaming: name, in: bytes).map { .value($0) } ?? .other
        }
        if tag.isEnd { return .nothing }
        guard let end = endOfTag(in: bytes, from: name.upperBound) else {
            return .value(name.upperBound..<bytes.count)
        }
        if isNaming(tag, textAt: end, in: bytes, isSecret) { return .nothing }
        // Of a long name only the beginning is the tag's.
        let attributes = max(tag.name.upperBound, name.upperBound)
        if isClosed(bytes, end), attributes <= end - 2 { return .value(attributes..<end - 2) }
        let element = end..<endOfElement(bytes[tag.name], in: bytes, from: end)
        let hasAttributes = bytes[attributes..<end - 1].contains { !isBlank($0) }
        return .value(hasAttributes ? attributes..<element.upperBound : element)
    }

    /// Elements of HTML that have no end tag.
    private static let void = ["input", "meta", "param", "link", "img", "br", "hr"]
    private static let ofPropertyLists = [
        "string", "integer", "real", "data", "date", "array", "dict", "true", "false",
    ]

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
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
    static func endOfTag(in bytes: [UInt8], from position: Int) -> Int? {
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

    /// Whether it is a `key` whose text is a name: in a property list, or with an element after a secret name.
    private static func isNaming(
        _ tag: Tag, textAt start: Int, in bytes: [UInt8], _ isSecret: (ArraySlice<UInt8>) -> Bool
    ) -> Bool {
        guard bytes[tag.name].isWord("key"), let value = elementAfter(textAt: start, in: bytes) else { return false }
        let text = bytes[start...].prefix(longestTagName).prefix { $0 != UInt8(ascii: "<") }
        return ofPropertyLists.contains { bytes[value.name].isWord($0) } || text.isEmpty || isSecret(text)
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

    /// The element that follows the one whose text, which is short, has a position; nil if none does. Comments do not
    /// count.
    private static func elementAfter(textAt position: Int, in bytes: [UInt8]) -> Tag? {
        let text = bytes[position...].starts(with: "<![CDATA[".utf8) ? position + 1 : position
        guard let close = bytes[text...].prefix(longestTagName).firstIndex(of: UInt8(ascii: "<")),
            let tag = Tag(from: close, in: bytes), tag.isEnd,
            let end = bytes[tag.name.upperBound...].firstIndex(where: { !isBlank($0) }),
            bytes[end] == UInt8(ascii: ">"),
            var next = bytes[(end + 1)...].firstIndex(where: { !isBlank($0) })
        else { return nil }
        while bytes[next...].starts(with: "<!--".utf8), let comment = bytes[next...].firstRange(of: Array("-->".utf8)),
            let after = bytes[comment.upperBound...].firstIndex(where: { !isBlank($0) })
        {
            next = after
        }
        guard let value = Tag(from: next, in: bytes), !value.isEnd else { return nil }
        return value
    }

    /// The end of the element whose tag has a position and ends at another; before its `>` if it has no text.
    static func endOfElement(aroundTagAt position: Int, endingAt end: Int, in bytes: [UInt8]) -> Int {
        guard let start = bytes[..<position].lastIndex(of: UInt8(ascii: "<")), let tag = Tag(from: start, in: bytes)
        else {
            return bytes.count
        }
        if isClosed(bytes, end) || void.contains(where: { bytes[tag.name].isWord($0) }) { return end - 1 }
        return endOfElement(bytes[tag.name], in: bytes, from: end)
    }
}
