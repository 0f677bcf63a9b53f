/// Secrets that stand in other values: a URL in the query of another, or JSON there, has its signs percent-encoded, and
/// perhaps more than once.
extension SecretText {
    /// How often a value is looked into. What is encoded more often than that is not shown.
    private static let deepest = 3

    /// A text without the secrets of what stands in it: the user info of URLs, and values that have a secret encoded in
    /// them. So it is for a URL too, whose own values are for whoever knows its parts.
    package static func withoutInner(_ text: String, hiding secret: HTTP.SecretFields) -> String {
        withoutInner(text, hiding: secret, 0)
    }

    /// `depth`: how often the text was decoded.
    static func withoutInner(_ text: String, hiding secret: HTTP.SecretFields, _ depth: Int) -> String {
        withoutUserInfo(withoutNested(text, hiding: secret, depth))
    }

    /// Without the values that have a secret in them once their percent signs are read: where it ends there is for
    /// nobody to see, so none of the value is shown. Each byte is read a few times at most.
    private static func withoutNested(_ text: String, hiding secret: HTTP.SecretFields, _ depth: Int) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            let end = bytes[position...].firstIndex { isEndOfValue($0) || isInValue($0) } ?? bytes.count
            let word = Word(
                bytes: bytes[position..<end], isAfterSlashes: isAfterSlashes(position, in: bytes),
                isName: isBeforeValue(end, in: bytes))
            if hasNested(word, secret, depth) {
                shown.append(contentsOf: "***".utf8)
                position = bytes[end...].firstIndex(where: isEndOfValue) ?? bytes.count
                continue
            }
            shown.append(contentsOf: bytes[position..<min(end + 1, bytes.count)])
            position = end + 1
        }
        return String(decoding: shown, as: UTF8.self)
    }

    private static func isAfterSlashes(_ position: Int, in bytes: [UInt8]) -> Bool {
        bytes[..<position].suffix(2).elementsEqual("//".utf8)
    }

    /// Whether there is a sign whose value is shown as yet.
    private static func isBeforeValue(_ position: Int, in bytes: [UInt8]) -> Bool {
        let rest = bytes[position...].prefix(4)
        return rest.first == UInt8(ascii: "=") && !rest.elementsEqual("=***".utf8)
    }

    /// What stands between two signs.
    private struct Word {
        let bytes: ArraySlice<UInt8>
        /// Then it is the authority of a URL whose slashes nobody encoded.
        let isAfterSlashes: Bool
        /// Whether a value follows, whose name ends here: only what is before the name may be encoded.
        let isName: Bool
    }

    /// An authority that is no host and port may be the beginning of a user and a password with a slash in it.
    private static func hasNested(_ word: Word, _ secret: HTTP.SecretFields, _ depth: Int) -> Bool {
        let meant = unescaped(word.bytes)
        guard meant.count < word.bytes.count else { return false }
        if depth == deepest || (word.isAfterSlashes && !hasPort(meant)) { return true }
        // A name that is itself encoded is nothing nested: its value is hidden by whoever knows names.
        let isName = word.isName && meant.contains { isEndOfValue($0) || isInValue($0) }
        let text = (word.isAfterSlashes ? "//" : "") + String(decoding: meant, as: UTF8.self) + (isName ? "=x" : "")
        return masked(text, as: .link, hiding: secret, depth + 1) != text
    }

    /// What ends a value wherever it stands.
    private static func isEndOfValue(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "#"):
            true
        default: false
        }
    }

    /// What may stand in a value, and parts it from the name before it.
    private static func isInValue(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "/")
    }
}

// MARK: - Forms in parts

extension SecretText {
    /// The longest boundary that there may be (RFC 2046 §5.1.1).
    private static let longestBoundary = 70

    /// What follows a secret name that names a part of a form (`form-data; name="password"`), up to the next part; nil
    /// for any other name. Where lines are not told apart any more it is all of the rest.
    static func part(named name: Range<Int>, in bytes: [UInt8]) -> Range<Int>? {
        var start = name.lowerBound
        if start > 0, bytes[start - 1] == UInt8(ascii: "\"") { start -= 1 }
        let sign = start - 5
        guard sign > 0, bytes[sign..<start].elementsEqual("name=".utf8, by: { $0 | 0x20 == $1 | 0x20 }),
            let before = bytes[..<sign].lastIndex(where: { $0 > 0x20 }), bytes[before] == UInt8(ascii: ";")
        else { return nil }
        let end = name.upperBound < bytes.count && bytes[name.upperBound] == UInt8(ascii: "\"") ? 1 : 0
        let value = name.upperBound + end
        return value..<endOfPart(in: bytes, from: value)
    }

    private static func endOfPart(in bytes: [UInt8], from start: Int) -> Int {
        var delimiter = Array("--".utf8)
        if bytes.starts(with: delimiter) { delimiter = Array(bytes.prefix(longestBoundary).prefix { $0 > 0x20 }) }
        var position = start
        while let line = bytes[position...].firstIndex(of: 0x0A) {
            if bytes[(line + 1)...].starts(with: delimiter) { return line }
            position = line + 1
        }
        return bytes.count
    }
}
