public import DunlinTypes

extension WebAddress {
    /// Returns a URL or reference, usable or not, without user info.
    ///
    /// In an invalid URL the authority's end is unknown, as a password may have a raw `/`, `?` or `#`. So all up to the
    /// last `@` is hidden.
    public static func shown(_ text: String) -> String {
        let bytes = text.utf8.span
        let parts = AddressParts(bytes)
        // A path has no user info, unless a colon before the slashes was forgotten.
        if parts.scheme == nil, parts.authority == nil {
            // By bytes, because a combining mark would hide the slash before it.
            let slashes = (1..<max(bytes.count, 1)).first { bytes[$0] == slash && bytes[$0 - 1] == slash }
            guard let slashes, let at = lastAt(in: slashes..<bytes.count, of: bytes) else { return text }
            return text.bytes(in: 0..<slashes + 1) + "***" + text.bytes(in: at..<bytes.count)
        }
        let isUsable: Bool
        do throws(AddressError) {
            _ = try WebAddress(parts.scheme == nil ? "https:" + text : text)
            isUsable = true
        } catch {
            isUsable = false
        }
        let hidden = isUsable ? parts.authority ?? 0..<0 : (parts.authority?.lowerBound ?? 0)..<bytes.count
        guard let at = lastAt(in: hidden, of: bytes) else { return text }
        return text.bytes(in: 0..<hidden.lowerBound) + (isUsable ? "" : "***@") + text.bytes(in: at + 1..<bytes.count)
    }

    private static let slash = UInt8(ascii: "/")

    private static func lastAt(in range: Range<Int>, of bytes: Span<UInt8>) -> Int? {
        range.last { bytes[$0] == UInt8(ascii: "@") }
    }

    /// Returns the URL as errors name it: also without secret-looking values in its query and fragment, and without
    /// secrets of an encoded part, such as another URL.
    public static func named(_ text: String, hiding secret: HTTP.SecretFields = .usual) -> String {
        maskingValues(of: shown(text), secret)
    }

    /// Returns the URL without user info and the secrets of its query and fragment. Its path, which names files, stays
    /// unchanged, with whatever is encoded in it.
    public static func withoutSecretsOfQuery(_ text: String, hiding secret: HTTP.SecretFields) -> String {
        let shown = shown(text)
        let rest = shown.utf8.firstIndex(where: isMark) ?? shown.endIndex
        return shown[..<rest] + maskingValues(of: String(shown[rest...]), secret)
    }

    /// Returns the text without those values, whatever precedes its query.
    static func maskingValues(of shown: String, _ secret: HTTP.SecretFields = .usual) -> String {
        SecretText.withoutInner(withoutNamedValues(shown, secret), hiding: secret)
    }

    private static func withoutNamedValues(_ shown: String, _ secret: HTTP.SecretFields) -> String {
        let mark = shown.utf8.firstIndex(where: isMark) ?? shown.endIndex
        var named = withoutParameters(shown[..<mark], secret)
        var rest = shown[mark...]
        while let sign = rest.utf8.first {
            // Each item includes the separator before it.
            let after = rest.utf8.dropFirst()
            var end = after.firstIndex(where: isSeparator) ?? after.endIndex
            let item = rest[after.startIndex..<end]
            named += String(decoding: [sign], as: UTF8.self)
            if let name = hiddenName(of: item, secret) {
                named += name + "=***"
                // A question mark may be part of the value.
                end = after.firstIndex { $0 != UInt8(ascii: "?") && isSeparator($0) } ?? after.endIndex
            } else {
                named += item
            }
            rest = rest[end...]
        }
        return named
    }

    /// Returns a path without the values of its parameters, such as `;jsessionid=…`.
    private static func withoutParameters(_ path: Substring, _ secret: HTTP.SecretFields) -> String {
        let semicolon = UInt8(ascii: ";")
        var (named, rest) = ("", path)
        while let sign = rest.utf8.firstIndex(of: semicolon) {
            let after = rest.utf8.index(after: sign)
            let end = rest.utf8[after...].firstIndex { $0 == semicolon || $0 == slash } ?? rest.endIndex
            let name = hiddenName(of: rest[after..<end], secret)
            named += rest[..<after] + (name.map { $0 + "=***" } ?? rest[after..<end])
            rest = rest[end...]
        }
        return named + rest
    }

    private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "&") || isMark(byte) }

    /// Returns the item's name if its value must be hidden; nil if it may be shown.
    private static func hiddenName(of item: Substring, _ secret: HTTP.SecretFields) -> Substring? {
        guard let sign = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = item[..<sign]
        return secret.hides(PercentEncoding.meaning(ofQueryPart: name)) ? name : nil
    }
}
