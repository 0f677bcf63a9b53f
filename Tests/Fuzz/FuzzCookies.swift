import DunlinSemantics
import DunlinTypes

/// Set-Cookie fields, one a line, that servers of several origins send by turns, and rules for public suffixes behind
/// an empty line. Whatever comes, no server gets what it may not have, and the store keeps to its limits.
enum FuzzCookies {
    private static let origins = [
        HTTP.Origin(scheme: .https, host: "a.co.test"), HTTP.Origin(scheme: .http, host: "a.co.test"),
        HTTP.Origin(scheme: .https, host: "b.a.co.test"), HTTP.Origin(scheme: .https, host: "c.co.test"),
        HTTP.Origin(scheme: .http, host: "10.0.0.1"), HTTP.Origin(scheme: .https, host: "::1"),
    ]

    static func violation(of input: [UInt8]) -> String? {
        var lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
        var rules = Array("co.test\n".utf8)
        if let empty = lines.firstIndex(where: \.isEmpty) {
            rules += lines[empty...].joined(separator: [0x0A])
            lines = Array(lines[..<empty])
        }
        let suffixes = PublicSuffixes(parsing: rules)
        if !suffixes.contains("test") { return "a label that is no suffix" }
        var limits = CookieStore.Limits()
        (limits.perDomain, limits.total) = (3, 6)
        var store = CookieStore(suffixes, limits: limits)
        for (index, line) in lines.enumerated() {
            let now = Int64(1000 + index)
            let scope = CookieScope(origin: origins[index % origins.count], target: "/p/q?r")
            store.receive([Bytes(Array(line))], from: scope, at: now)
            if store.count > limits.total { return "too many" }
            if let violation = violation(in: &store, suffixes, at: now) { return violation }
        }
        store.remove { _ in true }
        return store.count == 0 ? nil : "something is left"
    }

    private static func violation(
        in store: inout CookieStore, _ suffixes: PublicSuffixes, at now: Int64
    ) -> String? {
        for origin in origins {
            let scope = CookieScope(origin: origin, target: "/p/q/s")
            for cookie in store.use(for: scope, at: now).cookies {
                if !cookie.isHostOnly, suffixes.contains(cookie.domain) { return "for a public suffix: \(cookie)" }
                if let problem = violation(of: cookie, to: origin, at: now) { return "\(problem): \(cookie)" }
            }
        }
        let all = store.all(at: now)
        // What ends now is still counted until something is kept in its place.
        return all.count <= store.count ? nil : "another number"
    }

    private static func violation(of cookie: HTTP.Cookie, to origin: HTTP.Origin, at now: Int64) -> String? {
        if let problem = cookie.problem { return problem }
        if cookie.isExpired(at: now) { return "over" }
        if cookie.expires.map({ $0 > now + SetCookie.longestLife }) == true { return "too long a life" }
        if cookie.isSecure, origin.scheme == .http { return "secure, in clear text" }
        if cookie.isHostOnly ? cookie.domain != origin.host : !origin.host.hasSuffix(cookie.domain) {
            return "sent to a stranger"
        }
        if !"/p/q/s".hasPrefix(cookie.path) { return "sent to another path" }
        guard let field = CookieField.joined([], [cookie]) else { return "not sent" }
        return field.utf8.contains(where: { $0 == 0x3B || ($0 < 0x20 && $0 != 0x09) }) ? "more than one" : nil
    }
}
