internal import DunlinTypes

/// The facts about a response's host that decide about its cookies, computed once for all: a host may have a hundred
/// domains above it, and a response as many cookies.
struct CookieVisit {
    /// The relation of a domain to the host.
    struct Match {
        /// The index of the longest of the visit's domains that it equals or is below.
        let index: Int
        /// Whether it equals that domain.
        let isAbove: Bool
    }

    let scope: CookieScope
    /// The host and every domain above it, from the longest to the shortest.
    let domains: [String]
    /// The site of each domain.
    let sites: [String]
    /// The secure cookies, once they were looked up.
    var secure: SecureCookies?

    init(_ scope: CookieScope, _ suffixes: PublicSuffixes) {
        self.scope = scope
        domains = scope.domains
        sites = suffixes.sites(of: domains)
    }

    /// Returns the site of the host or a domain above it.
    func site(of domain: String) -> String { sites[index(of: domain)] }

    /// Returns a domain's index; each is longer than the next, so its length tells.
    func index(of domain: String) -> Int {
        let count = domain.utf8.count
        return domains.firstIndex { $0.utf8.count == count } ?? 0
    }

    /// Returns the place of any domain; nil if it is below none of the visit's.
    func match(of domain: String) -> Match? {
        let (host, bytes) = (Array(scope.host.utf8), Array(domain.utf8))
        // The length of their common end.
        var same = 0
        while same < min(host.count, bytes.count), host[host.count - 1 - same] == bytes[bytes.count - 1 - same] {
            same += 1
        }
        for (index, other) in domains.enumerated() where other.utf8.count <= same {
            let count = other.utf8.count
            if count == bytes.count { return Match(index: index, isAbove: true) }
            if count > 0, bytes[bytes.count - 1 - count] == UInt8(ascii: ".") {
                return Match(index: index, isAbove: false)
            }
        }
        return nil
    }
}

/// Secure cookies that what comes without TLS may not hide, by name.
struct SecureCookies {
    private struct One {
        let match: CookieVisit.Match
        let site: String
        let path: String
        let digest: UInt64
    }

    private var cookies: [CookieName: [One]] = [:]

    mutating func add(_ cookie: HTTP.Cookie, _ name: CookieName, _ match: CookieVisit.Match, of site: String) {
        let digest = PathDigests(cookie.path).whole
        cookies[name, default: []].append(One(match: match, site: site, path: cookie.path, digest: digest))
    }

    /// Returns whether a cookie of the visit would be sent where one of them is, and how many were looked at.
    func isHidden(_ cookie: HTTP.Cookie, _ visit: CookieVisit) -> (isHidden: Bool, cost: Int) {
        guard let ones = cookies[CookieName(cookie)] else { return (false, 0) }
        let index = visit.index(of: cookie.domain)
        let (digests, site) = (PathDigests(cookie.path), visit.sites[index])
        let isHidden = ones.contains { one in
            (one.match.isAbove || (one.match.index <= index && one.site == site))
                && digests.mayBegin(with: one.digest, count: one.path.utf8.count)
                && CookieScope.isPath(cookie.path, within: one.path)
        }
        return (isHidden, ones.count)
    }
}

/// The hashes of all beginnings of a path, so that paths with a long common beginning are compared without reading them
/// again.
private struct PathDigests {
    private var digests: [UInt64] = [0xCBF2_9CE4_8422_2325]

    init(_ path: String) {
        digests.reserveCapacity(path.utf8.count + 1)
        var digest = digests[0]
        for byte in path.utf8 {
            digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3
            digests.append(digest)
        }
    }

    var whole: UInt64 { digests[digests.count - 1] }

    func mayBegin(with digest: UInt64, count: Int) -> Bool { count < digests.count && digests[count] == digest }
}
