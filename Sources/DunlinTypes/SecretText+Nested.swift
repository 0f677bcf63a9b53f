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
