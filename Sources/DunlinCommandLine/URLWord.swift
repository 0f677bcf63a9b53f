internal import Dunlin
internal import DunlinSemantics

/// A URL as people type it.
///
/// - With `http://` or `https://` it is what it says.
/// - `:8080/x` and `:/x` are on this machine: `http://localhost:8080/x`.
/// - Any other word begins with a host. `localhost`, names below it, and loopback addresses mean http, all others
///   https.
/// - Letters outside ASCII are percent-encoded as UTF-8; those of a host stay, as IDNA has another form for them.
package enum URLWord {
    /// The URL. Throws for what cannot be requested.
    package static func url(of word: String) throws(UsageError) -> String {
        let url = encoded(try completed(word))
        do throws(AddressError) {
            _ = try WebAddress(url)
        } catch {
            guard word.utf8.contains(where: { $0 == 0x20 || (0x09...0x0D).contains($0) }) else {
                throw UsageError(description: error.description)
            }
            let text = VisibleText.of(String(reflecting: error.text))
            throw UsageError(description: "\(text): a URL has no spaces; write one as %20")
        }
        return url
    }

    /// The URL as it was typed, but with its scheme and host.
    package static func written(_ word: String) throws(UsageError) -> String { try completed(word) }

    /// Percent-encodes what is outside ASCII, but for the host, and each @ in a user's name or password: the last one
    /// stands before the host.
    private static func encoded(_ url: String) -> String {
        let bytes = Array(url.utf8)
        let start = (bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0) + 3
        let end = bytes.dropFirst(start).firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
        let host = bytes[..<end].lastIndex(of: UInt8(ascii: "@")) ?? min(start, end)
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isInHost = (host..<end).contains(index)
            if isInHost || byte < 0x80 && (byte != UInt8(ascii: "@") || index >= end) {
                text.append(byte)
            } else {
                text += "%\(String(byte, radix: 16, uppercase: true))".utf8
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The word as messages show it: without what may be a password, or a token in a query.
    package static func shown(_ word: String) -> String {
        let mark = word.utf8.firstIndex { "?#".utf8.contains($0) }
        return mark.map { withoutUserInfo(String(word[...$0])) + "…" } ?? withoutUserInfo(word)
    }

    /// The word without what may be a password.
    package static func withoutUserInfo(_ word: String) -> String {
        guard let scheme = word.utf8.firstRange(of: "://".utf8) else { return word }
        let authority = word.utf8[scheme.upperBound...].prefix { !"/?#".utf8.contains($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return word }
        return word[..<scheme.upperBound] + "…" + word[at...]
    }

    /// The URL as a session names it, without user info.
    package static func named(_ url: String) -> String { WebAddress.shown(url) }

    private static func completed(_ word: String) throws(UsageError) -> String {
        if hasScheme(word) { return word }
        if word.isEmpty { throw UsageError(description: "a URL is needed; the one given is empty") }
        if word.hasPrefix("::") { throw UsageError(description: "an IPv6 address stands in brackets, such as [::1]") }
        if word.hasPrefix(":/") { return "http://localhost" + word.dropFirst() }
        if word.hasPrefix(":") { return "http://localhost" + word }
        guard let first = word.first, !"/?#".contains(first) else {
            throw UsageError(
                description: "\"\(word)\" names no host; a URL begins with one, or with : for this machine")
        }
        return (isLoopback(hostOf: word) ? "http://" : "https://") + word
    }

    private static func hasScheme(_ word: String) -> Bool {
        guard let colon = word.firstIndex(of: ":"), word[colon...].hasPrefix("://") else { return false }
        return word[..<colon].utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
        } && colon > word.startIndex
    }

    private static func isLoopback(hostOf word: String) -> Bool {
        let host: String
        do throws(AddressError) { host = try WebAddress("http://" + word).origin.host } catch { return false }
        switch IPAddress(host) {
        case .v4(let bits): return bits >> 24 == 127
        case .v6(let bits): return bits == 1
        case nil:
            let name = host.hasSuffix(".") ? String(host.dropLast()) : host
            return name == "localhost" || name.hasSuffix(".localhost")
        }
    }
}
