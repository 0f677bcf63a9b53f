/// Text of a server that is shown to a person.
package enum SecretText {
    private static let shownCharacters = 200

    /// The first characters of a body that is text, without what looks like a secret, on one line; nil for any other.
    /// Text is what is declared as such, or has no control characters if nothing is declared.
    package static func beginning(
        of body: Bytes, contentType: String?, hiding secret: HTTP.SecretFields = .usual
    ) -> String? {
        let first = body[0..<min(body.count, 4 * shownCharacters)]
        if body.isEmpty || !isText(first, contentType?.lowercased()) { return nil }
        // What is not seen must not hide a name.
        let masked = masked(VisibleText.of(String(first), upTo: 4 * shownCharacters), hiding: secret)
        let isWhole = masked.unicodeScalars.count <= shownCharacters && first.count == body.count
        return VisibleText.of(masked, upTo: shownCharacters) + (isWhole ? "" : "…")
    }

    private static func isText(_ bytes: Bytes, _ type: String?) -> Bool {
        guard let type else { return bytes.allSatisfy { $0 >= 0x09 } }
        return type.hasPrefix("text/") || ["json", "xml", "x-www-form-urlencoded"].contains { type.contains($0) }
    }

    /// Without the values whose names look like secrets: after `name=` or `"name":`, in whatever format the text is. An
    /// array or object of that name ends what is shown, for where it ends nobody knows.
    package static func masked(_ text: String, hiding secret: HTTP.SecretFields = .usual) -> String {
        let bytes = Array(text.utf8)
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            guard isNameByte(bytes[position]) else {
                shown.append(bytes[position])
                position += 1
                continue
            }
            let start = position
            while position < bytes.count, isNameByte(bytes[position]) { position += 1 }
            shown.append(contentsOf: bytes[start..<position])
            let name = String(decoding: bytes[start..<position], as: UTF8.self)
            guard isSecret(name, secret), let value = value(of: name, in: bytes, after: position) else { continue }
            shown.append(contentsOf: bytes[position..<value.lowerBound])
            shown.append(contentsOf: "***".utf8)
            position = value.upperBound
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// A name with an escaped letter is one that was to be hidden.
    private static func isSecret(_ name: String, _ secret: HTTP.SecretFields) -> Bool {
        name.contains("\\u") || secret.hides(name.filter { $0 != "\\" })
    }

    /// The value after a name and its sign; nil if there is no sign.
    private static func value(of name: String, in bytes: [UInt8], after end: Int) -> Range<Int>? {
        var start = end
        func skip(_ isSkipped: (UInt8) -> Bool) {
            while start < bytes.count, isSkipped(bytes[start]) { start += 1 }
        }
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        skip { isQuote($0) || isBlank($0) || $0 == UInt8(ascii: "]") }
        if start < bytes.count, bytes[start] == UInt8(ascii: ">") {
            // An element, up to its end.
            return start + 1..<(bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count)
        }
        guard start < bytes.count, bytes[start] == UInt8(ascii: ":") || bytes[start] == UInt8(ascii: "=") else {
            return nil
        }
        start += 1
        skip { isBlank($0) || $0 == UInt8(ascii: "\\") }
        guard start < bytes.count else { return start..<start }
        if bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") { return start..<bytes.count }
        if isQuote(bytes[start]) {
            let quote = bytes[start]
            var end = start + 1
            while end < bytes.count, bytes[end] != quote { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
            return start + 1..<max(start + 1, min(end, bytes.count))
        }
        // Of several parts, with commas between them.
        if ["auth", "cookie"].contains(where: name.lowercased().contains) { return start..<bytes.count }
        // `Bearer token` is two words.
        let end = bytes[start...].firstIndex { byte in
            [UInt8(ascii: "&"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "}"), UInt8(ascii: "]")]
                .contains(byte) || byte == UInt8(ascii: "<") || byte == 0x0A || byte == 0x0D
        }
        return start..<(end ?? bytes.count)
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "%"),
            UInt8(ascii: "\\"), 0x80...:
            true
        default: false
        }
    }
}
