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
        let isForm = contentType?.lowercased().contains("x-www-form-urlencoded") == true
        let masked = masked(
            VisibleText.of(String(first), upTo: 4 * shownCharacters), as: isForm ? .form : .text, hiding: secret)
        let isWhole = masked.unicodeScalars.count <= shownCharacters && first.count == body.count
        return VisibleText.of(masked, upTo: shownCharacters) + (isWhole ? "" : "…")
    }

    private static func isText(_ bytes: Bytes, _ type: String?) -> Bool {
        guard let type else { return bytes.allSatisfy { $0 >= 0x09 } }
        return type.hasPrefix("text/") || ["json", "xml", "x-www-form-urlencoded"].contains { type.contains($0) }
    }

    /// What a text is, which says where a value without quotes ends.
    package enum Kind {
        case text
        case form
        case link
        /// Several, each within `<` and `>`.
        case links

        /// Whether a value after `=` ends before this byte. A comma or semicolon may be a part of it.
        fileprivate func isEnd(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "&"): true
            case UInt8(ascii: "#"): self == .link || self == .links
            case UInt8(ascii: ">"): self == .links
            case 0x0A, 0x0D: self == .text
            default: false
            }
        }
    }

    /// Without the values whose names look like secrets: after `name=` or `"name":`, in whatever format the text is. An
    /// array or object of that name ends what is shown, for where it ends nobody knows. And without the user info of
    /// URLs.
    package static func masked(
        _ text: String, as kind: Kind = .text, hiding secret: HTTP.SecretFields = .usual
    ) -> String {
        let text = withoutUserInfo(text)
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
            guard isSecret(name, secret), let value = value(of: name, in: bytes, after: position, kind) else {
                continue
            }
            shown.append(contentsOf: bytes[position..<value.lowerBound])
            shown.append(contentsOf: "***".utf8)
            position = value.upperBound
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// A name with an escaped letter is one that was to be hidden.
    private static func isSecret(_ name: String, _ secret: HTTP.SecretFields) -> Bool {
        name.contains("\\u") || secret.hides(unescaped(name).filter { $0 != "\\" })
    }

    /// With the octets that are meant by percent signs.
    private static func unescaped(_ name: String) -> String {
        guard name.contains("%") else { return name }
        let bytes = Array(name.utf8)
        var meant: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                let octet = UInt8(String(decoding: bytes[position + 1...position + 2], as: UTF8.self), radix: 16)
            {
                meant.append(octet)
                position += 3
            } else {
                meant.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: meant, as: UTF8.self)
    }

    /// The value after a name and its sign; nil if there is no sign.
    private static func value(of name: String, in bytes: [UInt8], after end: Int, _ kind: Kind) -> Range<Int>? {
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
        let isItem = bytes[start] == UInt8(ascii: "=")
        start += 1
        if isItem, kind != .text { return start..<(bytes[start...].firstIndex(where: kind.isEnd) ?? bytes.count) }
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
        if isItem { return start..<(bytes[start...].firstIndex(where: kind.isEnd) ?? bytes.count) }
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

// MARK: - User info

extension SecretText {
    /// Without what stands between `//` and `@`, wherever URLs are in the text.
    ///
    /// A password with a raw `/`, `?` or `#` reaches past the authority: what is then no host and port there shows it,
    /// and all up to the last `@` is hidden.
    package static func withoutUserInfo(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "@")) else { return text }
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            guard let start = authority(in: bytes, at: position) else {
                shown.append(bytes[position])
                position += 1
                continue
            }
            shown.append(contentsOf: bytes[position..<start])
            position = start
            guard let at = endOfUserInfo(in: bytes, from: start) else { continue }
            shown.append(contentsOf: "***".utf8)
            position = at
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Where the authority begins whose slashes stand there; JSON may escape them.
    private static func authority(in bytes: [UInt8], at position: Int) -> Int? {
        guard bytes[position] == UInt8(ascii: "/") else { return nil }
        var next = position + 1
        if next < bytes.count, bytes[next] == UInt8(ascii: "\\") { next += 1 }
        return next < bytes.count && bytes[next] == UInt8(ascii: "/") ? next + 1 : nil
    }

    private static func endOfUserInfo(in bytes: [UInt8], from start: Int) -> Int? {
        let end = bytes[start...].firstIndex { $0 <= 0x20 || #""<>"#.utf8.contains($0) } ?? bytes.count
        let authority = bytes[start..<(bytes[start..<end].firstIndex { "/?#\\".utf8.contains($0) } ?? end)]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { return at }
        return hasPort(authority) ? nil : bytes[start..<end].lastIndex(of: UInt8(ascii: "@"))
    }

    /// Whether there is nothing or a number after the host's colon.
    private static func hasPort(_ authority: ArraySlice<UInt8>) -> Bool {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), authority.last != UInt8(ascii: "]") else {
            return true
        }
        return authority[(colon + 1)...].allSatisfy { (0x30...0x39).contains($0) }
    }
}
