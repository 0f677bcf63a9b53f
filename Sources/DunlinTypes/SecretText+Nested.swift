/// Secrets within other values: a URL in another's query, or JSON there, is percent-encoded, perhaps more than once.
extension SecretText {
    /// How many levels of encoding are looked into. What is encoded more often is not shown.
    private static let deepest = 3

    /// The text without the secrets nested in it: the user info of URLs, and values that have an encoded secret in
    /// them. For a URL too, whose own values are left to whoever knows its parts.
    package static func withoutInner(_ text: String, hiding secret: HTTP.SecretFields) -> String {
        withoutInner(text, hiding: secret, 0)
    }

    /// The text without nested secrets; `depth` says how often it was decoded.
    static func withoutInner(_ text: String, hiding secret: HTTP.SecretFields, _ depth: Int) -> String {
        withoutUserInfo(withoutNested(text, hiding: secret, depth))
    }

    /// The text without values that contain a secret once percent-decoded. Nobody can see where such a secret ends, so
    /// none of the value is shown. Each byte is read a few times at most.
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

    /// Whether a sign follows whose value is not hidden yet.
    private static func isBeforeValue(_ position: Int, in bytes: [UInt8]) -> Bool {
        let rest = bytes[position...].prefix(4)
        return rest.first == UInt8(ascii: "=") && !rest.elementsEqual("=***".utf8)
    }

    /// The text between two signs.
    private struct Word {
        let bytes: ArraySlice<UInt8>
        /// Whether it follows the unencoded slashes of a URL, and is thus its authority.
        let isAfterSlashes: Bool
        /// Whether it is a name with a value after it; only what precedes the name may then be encoded.
        let isName: Bool
    }

    /// Whether a word contains an encoded secret. An authority other than host and port may be the beginning of a user
    /// and a password with a slash in it.
    private static func hasNested(_ word: Word, _ secret: HTTP.SecretFields, _ depth: Int) -> Bool {
        let meant = unescaped(word.bytes)
        guard meant.count < word.bytes.count else { return false }
        if depth == deepest || (word.isAfterSlashes && !hasPort(meant)) { return true }
        // A name that is itself encoded is not nested: whoever knows names hides its value.
        let isName = word.isName && meant.contains { isEndOfValue($0) || isInValue($0) }
        let text = (word.isAfterSlashes ? "//" : "") + String(decoding: meant, as: UTF8.self) + (isName ? "=x" : "")
        return masked(text, as: .link, hiding: secret, depth + 1) != text
    }

    /// Whether the byte ends a value wherever it stands.
    private static func isEndOfValue(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "#"):
            true
        default: false
        }
    }

    /// Whether the byte may occur in a value, and separates it from the name before it.
    private static func isInValue(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "=") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "/")
    }
}

// MARK: - Forms in parts

extension SecretText {
    /// The length of the longest allowed boundary (RFC 2046 §5.1.1).
    private static let longestBoundary = 70

    /// How far from the beginning and the end of a part's name a secret name is looked for.
    private static let longestPartName = 128

    /// The range that follows a secret name of a form part, or one within its name (`form-data;
    /// name="user[password]"`), up to the next part; nil for any other name. Without line ends it is all the rest.
    static func part(named name: Range<Int>, in bytes: [UInt8]) -> Range<Int>? {
        guard let (start, isQuoted) = beginning(of: name.lowerBound, in: bytes),
            let sign = ["name=", "name*="].map({ start - $0.utf8.count }).first(where: { sign in
                sign > 0 && isSign(bytes[sign..<start])
            }),
            let before = bytes[..<sign].lastIndex(where: { $0 > 0x20 }), bytes[before] == UInt8(ascii: ";")
        else { return nil }
        let value = isQuoted ? endOfQuoted(from: name.upperBound, in: bytes) : name.upperBound
        return value..<endOfPart(in: bytes, from: value)
    }

    private static func isSign(_ bytes: ArraySlice<UInt8>) -> Bool {
        ["name=", "name*="].contains { bytes.elementsEqual($0.utf8) { $0 | 0x20 == $1 | 0x20 } }
    }

    /// The start of the value, quote included, that contains `position` on the same line.
    private static func beginning(of position: Int, in bytes: [UInt8]) -> (start: Int, isQuoted: Bool)? {
        var (start, isToken) = (position, true)
        while start > max(1, position - longestPartName) {
            let (byte, before) = (bytes[start - 1], bytes[start - 2 < 0 ? 0 : start - 2])
            switch byte {
            case UInt8(ascii: "\"") where before == UInt8(ascii: "="): return (start - 1, true)
            case UInt8(ascii: "\"") where before != UInt8(ascii: "\\"), 0x0A, 0x0D: return nil
            case UInt8(ascii: "=") where isToken: return (start, false)
            case UInt8(ascii: "\""), UInt8(ascii: ";"), 0x20, 0x09: isToken = false
            default: break
            }
            start -= 1
        }
        return nil
    }

    /// The position after the closing quote of a value; where the search ended if there is none.
    private static func endOfQuoted(from start: Int, in bytes: [UInt8]) -> Int {
        let rest = bytes[start...].prefix(longestPartName)
        let end = rest.indices.first { index in
            bytes[index] == UInt8(ascii: "\"") && bytes[index - 1] != UInt8(ascii: "\\")
        }
        return end.map { $0 + 1 } ?? start
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
