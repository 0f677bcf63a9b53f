public import DunlinTypes

extension WebAddress {
    /// A URL or a reference, whether it can be used or not, as it may be shown: without user info.
    ///
    /// Of what is no URL nobody knows where its authority ends: a password with a raw `/`, `?` or `#` reaches past it.
    /// So all up to the last `@` is hidden there.
    public static func shown(_ text: String) -> String {
        let bytes = text.utf8.span
        let parts = AddressParts(bytes)
        // A path, and there is nobody in it, unless somebody forgot a colon before the slashes.
        if parts.scheme == nil, parts.authority == nil {
            // By bytes: a mark on top of a sign does not make it another.
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

    /// The URL as errors name it: also without the values in its query and fragment whose names look like secrets, and
    /// without the secrets of what stands encoded in it, another URL perhaps.
    public static func named(_ text: String, hiding secret: HTTP.SecretFields = .usual) -> String {
        maskingValues(of: shown(text), secret)
    }

    /// The URL without user info and the secrets of its query and fragment. Its path, which is what a file is called
    /// after, stays as it is, whatever it has encoded in it.
    public static func withoutSecretsOfQuery(_ text: String, hiding secret: HTTP.SecretFields) -> String {
        let shown = shown(text)
        let rest = shown.utf8.firstIndex(where: isMark) ?? shown.endIndex
        return shown[..<rest] + maskingValues(of: String(shown[rest...]), secret)
    }

    /// The text without those values, whatever stands before its query.
    static func maskingValues(of shown: String, _ secret: HTTP.SecretFields = .usual) -> String {
        SecretText.withoutInner(withoutNamedValues(shown, secret), hiding: secret)
    }

    private static func withoutNamedValues(_ shown: String, _ secret: HTTP.SecretFields) -> String {
        guard let mark = shown.utf8.firstIndex(where: isMark) else { return shown }
        var named = String(shown[..<mark])
        var rest = shown[mark...]
        while let sign = rest.utf8.first {
            // Each item goes with the sign before it.
            let after = rest.utf8.dropFirst()
            var end = after.firstIndex(where: isSeparator) ?? after.endIndex
            let item = rest[after.startIndex..<end]
            named += String(decoding: [sign], as: UTF8.self)
            if let name = hiddenName(of: item, secret) {
                named += name + "=***"
                // A question mark may be a part of the value.
                end = after.firstIndex { $0 != UInt8(ascii: "?") && isSeparator($0) } ?? after.endIndex
            } else {
                named += item
            }
            rest = rest[end...]
        }
        return named
    }

    private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "&") || isMark(byte) }

    /// Nil if the item may be shown.
    private static func hiddenName(of item: Substring, _ secret: HTTP.SecretFields) -> Substring? {
        guard let sign = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = item[..<sign]
        return secret.hides(PercentEncoding.meaning(ofQueryPart: name)) ? name : nil
    }
}
