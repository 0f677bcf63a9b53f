internal import Dunlin
internal import DunlinSemantics

/// A URL as people type it.
///
/// - With `http://` or `https://` it is what it says.
/// - `:8080/x` and `:/x` are on this machine: `http://localhost:8080/x`.
/// - Any other word begins with a host. `localhost`, names below it, and loopback addresses mean http, all others
///   https.
package enum URLWord {
    /// The URL. Throws for what cannot be requested.
    package static func url(of word: String) throws(UsageError) -> String {
        let url = try completed(word)
        do throws(AddressError) {
            _ = try WebAddress(url)
        } catch {
            throw UsageError(description: error.description)
        }
        return url
    }

    /// The word as messages show it: without what may be a password.
    package static func shown(_ word: String) -> String {
        guard let scheme = word.firstRange(of: "://") else { return word }
        let authority = word[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return word }
        return word[..<scheme.upperBound] + "…" + word[at...]
    }

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
