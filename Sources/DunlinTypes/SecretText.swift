/// Hides secrets in links, forms and values of fields, before a person sees them.
package enum SecretText {
    /// The format of a text, which determines where unquoted values end.
    package enum Kind {
        case form
        case link
        /// Several links, each within `<` and `>`.
        case links

        /// Whether this byte ends a value after `=`. A comma or semicolon may be part of the value.
        fileprivate func isEnd(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "&"): true
            case UInt8(ascii: "#"): self == .link || self == .links
            case UInt8(ascii: ">"): self == .links
            default: false
            }
        }
    }

    /// The text without values whose names look secret (after `name=` or `"name":`), without the user info of URLs, and
    /// without values that have such secrets percent-encoded in them. An array or object with a secret name hides the
    /// rest of the text, since its end is not known; an element with a secret name, or a name that is itself a value
    /// (`"key": "password"`), hides all from the first bracket on. The cost is linear in the text's length.
    package static func masked(
        _ text: String, as kind: Kind, hiding secret: HTTP.SecretFields = .usual
    ) -> String {
        masked(text, as: kind, hiding: secret, 0)
    }

    /// The text up to the first secret, or to the first word that is a secret name, whatever follows it. For text of a
    /// form that is not known: nobody can tell where the values are.
    package static func beginning(of text: String, hiding secret: HTTP.SecretFields) -> String {
        let (bytes, shown) = (Array(text.utf8), Array(masked(text, as: .form, hiding: secret).utf8))
        var end = zip(bytes, shown).enumerated().first { $1.0 != $1.1 }?.offset ?? min(bytes.count, shown.count)
        if let name = endOfName(in: bytes[..<end], secret), bytes[name...].contains(where: isNameByte) { end = name }
        return end == bytes.count ? text : String(decoding: bytes[..<end], as: UTF8.self) + "***"
    }

    /// Whether a word of the text is a secret name.
    package static func hasName(in text: String, hiding secret: HTTP.SecretFields) -> Bool {
        endOfName(in: Array(text.utf8)[...], secret) != nil
    }

    /// The end of the first word that is a secret name. A word that is too long to be a name is none.
    private static func endOfName(in bytes: ArraySlice<UInt8>, _ secret: HTTP.SecretFields) -> Int? {
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let word = bytes[position...].prefix(while: isNameByte)
            if !word.isEmpty, word.count <= HTTP.SecretFields.longestName, isSecret(word, secret) {
                return word.endIndex
            }
            position = word.endIndex + 1
        }
        return nil
    }

    /// The masked text; `depth` says how often it was decoded.
    static func masked(_ text: String, as kind: Kind, hiding secret: HTTP.SecretFields, _ depth: Int) -> String {
        let text = withoutInner(text, hiding: secret, depth)
        let bytes = Array(text.utf8)
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            let start = position
            while position < bytes.count, isNameByte(bytes[position]) { position += 1 }
            if position == start {
                shown.append(bytes[position])
                position += 1
                continue
            }
            shown.append(contentsOf: bytes[start..<position])
            let name = bytes[start..<position]
            guard isSecret(name, secret) else { continue }
            if isNamed(by: name, in: bytes) || isNaming(name) && isSecret(keyed(by: name, in: bytes), secret) {
                let start = shown.firstIndex { "{[<".utf8.contains($0) } ?? shown.count
                return String(decoding: shown[..<start], as: UTF8.self) + "***"
            }
            guard let value = value(of: name, in: bytes, kind) else { continue }
            shown.append(contentsOf: bytes[position..<max(position, value.lowerBound)])
            position = max(position, value.upperBound)
            shown.append(contentsOf: "***".utf8)
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Whether a name is secret. A name with an escaped letter counts, since somebody meant to hide it.
    private static func isSecret(_ name: ArraySlice<UInt8>, _ secret: HTTP.SecretFields) -> Bool {
        let hasEscape = name.indices.dropLast().contains { index in
            name[index] == UInt8(ascii: "\\") && name[index + 1] == UInt8(ascii: "u")
        }
        if hasEscape { return true }
        let meant = unescaped(name).filter { $0 != UInt8(ascii: "\\") }
        return secret.hides(String(decoding: meant, as: UTF8.self))
    }

    /// How far before a name its key may be.
    private static let longestKey = 128

    /// Whether a secret name is that of an element, or the value of a key that says what another value is called. Then
    /// nobody can tell where that value is.
    private static func isNamed(by name: ArraySlice<UInt8>, in bytes: [UInt8]) -> Bool {
        let before = bytes[..<name.startIndex].suffix(longestKey)
        // An element's name may have other words before the secret one: `<db.password>`, `<wsse:Password>`.
        let tag = before.last { !isNameByte($0) && !".:".utf8.contains($0) }
        if tag == UInt8(ascii: "<") { return true }
        if before.last == UInt8(ascii: ">"), bytes[name.endIndex...].first == UInt8(ascii: "<") { return true }
        guard let sign = before.lastIndex(where: { !isFiller($0) }), ":=".utf8.contains(bytes[sign]),
            let last = before[..<sign].lastIndex(where: { !isFiller($0) })
        else { return false }
        let start = before[...last].lastIndex { !isNameByte($0) || $0 == UInt8(ascii: "\\") }
        return isNaming(before[(start.map { $0 + 1 } ?? before.startIndex)..<last + 1])
    }

    private static func isNaming(_ key: ArraySlice<UInt8>) -> Bool {
        ["name", "key", "property", "http-equiv"].contains { key.elementsEqual($0.utf8) { $0 | 0x20 == $1 } }
    }

    /// The text that a key stands before, as far as it may be a name.
    private static func keyed(by key: ArraySlice<UInt8>, in bytes: [UInt8]) -> ArraySlice<UInt8> {
        let sign = bytes[key.endIndex...].prefix(longestKey).drop(while: isFiller)
        guard let first = sign.first, ":=".utf8.contains(first) else { return [] }
        return sign.dropFirst().drop(while: isFiller).prefix { !isQuote($0) && !",{}<>".utf8.contains($0) }
    }

    private static func isFiller(_ byte: UInt8) -> Bool { isQuote(byte) || byte <= 0x20 || byte == UInt8(ascii: "\\") }

    /// The name with its percent signs decoded.
    static func unescaped(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard name.contains(UInt8(ascii: "%")) else { return name }
        var meant: [UInt8] = []
        var position = name.startIndex
        while position < name.endIndex {
            if name[position] == UInt8(ascii: "%"), position + 2 < name.endIndex,
                let high = Hex.value(name[position + 1]), let low = Hex.value(name[position + 2])
            {
                meant.append(high << 4 | low)
                position += 3
            } else {
                meant.append(name[position])
                position += 1
            }
        }
        return meant[...]
    }

    /// Whether a name contains the word, given in lower case, ignoring case.
    private static func contains(_ name: ArraySlice<UInt8>, _ word: String) -> Bool {
        let word = word.utf8
        guard let first = word.first else { return true }
        return name.indices.contains { index in
            name[index] | 0x20 == first | 0x20
                && name[index...].prefix(word.count).elementsEqual(word) { $0 | 0x20 == $1 | 0x20 }
        }
    }

    /// The range of the value after a name and its sign; nil if there is no sign.
    private static func value(of name: ArraySlice<UInt8>, in bytes: [UInt8], _ kind: Kind) -> Range<Int>? {
        var start = endOfName(in: bytes, from: name.endIndex)
        func skip(_ isSkipped: (UInt8) -> Bool) {
            while start < bytes.count, isSkipped(bytes[start]) { start += 1 }
        }
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        skip { isQuote($0) || isBlank($0) || $0 == UInt8(ascii: "]") }
        guard start < bytes.count, bytes[start] == UInt8(ascii: ":") || bytes[start] == UInt8(ascii: "=") else {
            return nil
        }
        let isItem = bytes[start] == UInt8(ascii: "=")
        start += 1
        if isItem { return start..<(bytes[start...].firstIndex(where: kind.isEnd) ?? bytes.count) }
        skip { isBlank($0) || $0 == UInt8(ascii: "\\") }
        guard start < bytes.count else { return start..<start }
        if bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") { return start..<bytes.count }
        if isQuote(bytes[start]) {
            let quote = bytes[start]
            var end = start + 1
            while end < bytes.count, bytes[end] != quote { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
            return start + 1..<max(start + 1, min(end, bytes.count))
        }
        // Such a value may have several parts with commas between them.
        if contains(name, "auth") || contains(name, "cookie") { return start..<bytes.count }
        // `Bearer token` is two words.
        let end = bytes[start...].firstIndex { byte in
            [UInt8(ascii: "&"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "}"), UInt8(ascii: "]")]
                .contains(byte) || byte == UInt8(ascii: "<") || byte == 0x0A || byte == 0x0D
        }
        return start..<(end ?? bytes.count)
    }

    /// How far a name may go on behind the word that makes it secret.
    private static let longestRest = 64

    /// The end of a name, which goes on behind a secret word: `tokens[]=`, `credentials.x=` or `"password hash":`. The
    /// same position if it does not.
    private static func endOfName(in bytes: [UInt8], from start: Int) -> Int {
        let rest = bytes[start...].prefix(longestRest)
        if let first = rest.first, "[.".utf8.contains(first) {
            let end = rest.first { !isNameByte($0) && !"[].".utf8.contains($0) } == UInt8(ascii: "=")
            if end, let sign = rest.firstIndex(of: UInt8(ascii: "=")) { return sign }
        }
        guard let quote = rest.firstIndex(where: { isQuote($0) || $0 < 0x20 || ",{}\\".utf8.contains($0) }),
            isQuote(bytes[quote]),
            let sign = bytes[quote...].dropFirst().prefix(longestRest).first(where: { $0 != 0x20 }),
            sign == UInt8(ascii: ":")
        else { return start }
        return quote
    }

    static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

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
    /// The text without what stands between `//` and `@`, wherever it contains URLs. After `http:` or `https:` any
    /// slashes may stand, or none, as browsers read it.
    ///
    /// A password with a raw `/`, `?` or `#` extends beyond the authority. An authority that is not a host and port
    /// shows this, and then everything up to the last `@` is hidden. Each byte is read a few times at most, because
    /// servers write the text.
    package static func withoutUserInfo(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "@")) else { return text }
        var shown: [UInt8] = []
        shown.reserveCapacity(bytes.count)
        var position = 0
        var (word, authority) = (Word(), Authority())
        while position < bytes.count {
            guard let start = startOfAuthority(in: bytes, at: position) else {
                shown.append(bytes[position])
                position += 1
                continue
            }
            shown.append(contentsOf: bytes[position..<start])
            position = start
            word.reach(start, in: bytes)
            authority.reach(start, in: bytes, upTo: word.end)
            guard let at = endOfUserInfo(from: start, word, authority) else { continue }
            shown.append(contentsOf: "***".utf8)
            position = at
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// The rest of a text up to the next byte that cannot occur in a URL. It may contain many `//`, and is read once
    /// for all of them.
    private struct Word {
        private(set) var end = 0
        private(set) var lastAt = -1

        mutating func reach(_ start: Int, in bytes: [UInt8]) {
            if start < end { return }
            end = start
            while end < bytes.count, !Self.isEnd(bytes[end]) {
                if bytes[end] == UInt8(ascii: "@") { lastAt = end }
                end += 1
            }
        }

        private static func isEnd(_ byte: UInt8) -> Bool {
            byte <= 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
        }
    }

    /// What may be an authority. Many `http:` may begin it, one after another, and it is read once for all of them.
    private struct Authority {
        private(set) var lastAt = -1
        private var end = 0
        private var lastColon = -1
        private var hasPort = true

        mutating func reach(_ start: Int, in bytes: [UInt8], upTo limit: Int) {
            if start < end { return }
            let text = bytes[start..<limit].prefix { byte in
                !SecretText.isSlash(byte) && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
            }
            end = text.endIndex
            lastAt = text.lastIndex(of: UInt8(ascii: "@")) ?? -1
            lastColon = text.lastIndex(of: UInt8(ascii: ":")) ?? -1
            hasPort = SecretText.hasPort(text)
        }

        /// Whether what begins at `start`, within it, is a host and a port at most.
        func hasPort(from start: Int) -> Bool { hasPort || lastColon < start }
    }

    /// The start of the authority after the slashes at `position`, in either direction, or after the colon of a scheme
    /// there; nil if it is neither. JSON may have escaped them.
    private static func startOfAuthority(in bytes: [UInt8], at position: Int) -> Int? {
        if bytes[position] == UInt8(ascii: ":"), isScheme(bytes[..<position]) {
            return bytes[(position + 1)...].prefix(while: isSlash).endIndex
        }
        guard isSlash(bytes[position]) else { return nil }
        let slashes = bytes[position...].prefix(while: isSlash)
        return slashes.count > 1 ? slashes.endIndex : nil
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    /// Whether the bytes end with a scheme whose URLs have an authority.
    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        let letters = bytes.suffix(5).map { $0 | 0x20 }
        return letters == Array("https".utf8) || letters.suffix(4).elementsEqual("http".utf8)
    }

    /// The end of the user info; nil if there is none. Nothing is read again for it.
    private static func endOfUserInfo(from start: Int, _ word: Word, _ authority: Authority) -> Int? {
        if word.lastAt < start { return nil }
        if authority.lastAt >= start { return authority.lastAt }
        return authority.hasPort(from: start) ? nil : word.lastAt
    }

    /// Whether the host is followed by nothing or by a colon and a number.
    static func hasPort(_ authority: ArraySlice<UInt8>) -> Bool {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")), authority.last != UInt8(ascii: "]") else {
            return true
        }
        return authority[(colon + 1)...].allSatisfy { (0x30...0x39).contains($0) }
    }
}
