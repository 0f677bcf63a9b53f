internal import DunlinTypes

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
            guard let slashes = text.firstRange(of: "//"), let at = text.lastIndex(of: "@"), slashes.upperBound <= at
            else { return text }
            return text[..<slashes.upperBound] + "***" + text[at...]
        }
        let isUsable: Bool
        do throws(AddressError) {
            _ = try WebAddress(parts.scheme == nil ? "https:" + text : text)
            isUsable = true
        } catch {
            isUsable = false
        }
        let hidden = isUsable ? parts.authority ?? 0..<0 : (parts.authority?.lowerBound ?? 0)..<bytes.count
        guard let at = hidden.last(where: { bytes[$0] == UInt8(ascii: "@") }) else { return text }
        return text.bytes(in: 0..<hidden.lowerBound) + (isUsable ? "" : "***@") + text.bytes(in: at + 1..<bytes.count)
    }

    /// The URL as errors name it: also without the values of its query whose names look like secrets.
    public static func named(_ text: String) -> String {
        let shown = shown(text)
        guard let mark = shown.firstIndex(of: "?") else { return shown }
        let end = shown[mark...].firstIndex(of: "#") ?? shown.endIndex
        let items = shown[shown.index(after: mark)..<end].split(separator: "&", omittingEmptySubsequences: false)
        let masked = items.map { item in
            guard let sign = item.firstIndex(of: "="),
                SecretName.isLikely(PercentEncoding.meaning(ofQueryPart: item[..<sign]))
            else { return item }
            return item[...sign] + "***"
        }
        return shown[...mark] + masked.joined(separator: "&") + shown[end...]
    }
}
