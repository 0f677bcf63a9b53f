import DunlinTypes

/// What a request may contain, byte by byte (RFC 9110 §5, RFC 9112 §3). These are pure checks; the encoder uses them.
enum RequestCheck {
    typealias Text = UnsafeBufferPointer<UInt8>

    static func isToken(_ text: Text) -> Bool {
        for byte in text where !TokenCharacters.contains(byte) { return false }
        return !text.isEmpty
    }

    /// Whether the name is a token and the value has no control characters except tabs.
    @inline(__always)
    static func field(_ bytes: Text, _ entry: Fields.Entry) throws(WireError) {
        let name = entry.name
        let end = Octets.endOfToken(bytes, from: name.lowerBound, to: name.upperBound)
        guard !name.isEmpty, end == name.upperBound else { throw invalidName(bytes, name.lowerBound..<end) }
        let value = entry.value
        guard Octets.endOfText(bytes, from: value.lowerBound, to: value.upperBound) == value.upperBound else {
            throw .invalidRequestFieldValue(name: text(bytes, name))
        }
    }

    private static func invalidName(_ bytes: Text, _ token: Range<Int>) -> WireError {
        .invalidRequestFieldName(beginning: text(bytes, token.prefix(shownName)))
    }

    private static var shownName: Int { 40 }

    static func text(_ bytes: Text, _ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// Checks for printable ASCII without a fragment, in a form that is valid for the method.
    static func target(_ text: Text, for method: HTTP.Method) throws(WireError) {
        for byte in text where byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "#") { throw .invalidTarget }
        guard let first = text.first else { throw .invalidTarget }
        // The length first, to keep string comparison off the common path.
        let isConnect = method.rawValue.utf8.count == 7 && method == .connect
        if isConnect ? isAuthority(text, needsPort: true) : first == UInt8(ascii: "/") { return }
        if isConnect { throw .targetUnfitForMethod }
        let isAsterisk = text.count == 1 && first == UInt8(ascii: "*")
        guard isAsterisk ? method == .options : isAbsolute(text) else { throw .targetUnfitForMethod }
    }

    /// Whether the text is `scheme://host[:port]` and anything after it. User info is refused (RFC 9110 §4.2.4).
    private static func isAbsolute(_ text: Text) -> Bool {
        var position = 0
        while position < text.count, isSchemeCharacter(text[position]) { position += 1 }
        guard position > 0, Octets.isLetter(text[0]), text.count - position > 3,
            Octets.spells(text, position..<(position + 3), "://")
        else { return false }
        let start = position + 3
        let end = text[start...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? text.count
        return isAuthority(Text(rebasing: text[start..<end]), needsPort: false)
    }

    private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
        Octets.isLetter(byte) || Octets.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    /// Whether the text is a nonempty host, perhaps with a port, without user info; IPv6 addresses are in brackets.
    static func isAuthority(_ text: Text, needsPort: Bool) -> Bool {
        var end = 0
        if text.first == UInt8(ascii: "[") {
            guard let closing = text.firstIndex(of: UInt8(ascii: "]")), closing > 1 else { return false }
            for byte in text[1..<closing] where !isHostCharacter(byte) && byte != Octets.colon { return false }
            end = closing + 1
        } else {
            while end < text.count, isHostCharacter(text[end]) { end += 1 }
            guard end > 0 else { return false }
        }
        if end == text.count { return !needsPort }
        guard text[end] == Octets.colon else { return false }
        let port = (end + 1)..<text.count
        if port.isEmpty { return !needsPort }
        return Octets.number(text, port).map { $0 <= 65_535 } ?? false
    }

    /// Whether the byte is `unreserved`, one of `sub-delims`, or the percent sign of an escape (RFC 3986 §3.2.2).
    @inline(__always)
    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        // Of token characters, "#^`|" are not allowed in hosts; hosts also allow "(),;=", and "%" only as an escape.
        if TokenCharacters.contains(byte) {
            return byte != UInt8(ascii: "#") && byte != UInt8(ascii: "^") && byte != UInt8(ascii: "`")
                && byte != UInt8(ascii: "|")
        }
        return switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="): true
        default: false
        }
    }
}
