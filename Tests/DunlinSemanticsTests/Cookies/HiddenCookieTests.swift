import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSemantics

/// What comes without TLS against what came with it (RFC 6265bis §5.7), compared with the rule as it is written.
@Suite struct `Cookies that would hide secure ones` {
    private static let suffixes = PublicSuffixes(parsing: Array("com\nuk\nco.uk\nq.b.com\n".utf8))
    private static let hosts = [
        "a.com", "x.a.com", "y.x.a.com", "z.a.com", "co.uk", "b.co.uk", "c.b.co.uk", "x.a.com.", "a.com.", "b.com",
        "q.b.com", "r.q.b.com", "s.r.q.b.com", "10.0.0.1", "localhost",
    ]
    private static let paths = ["/", "/a", "/a/", "/a/b", "/ab", "/a/b/c"]

    private static func isRefused(
        _ name: String, domain: String, path: String, from scope: CookieScope, in store: CookieStore
    ) -> Bool {
        store.all(at: 0).contains { other in
            guard other.isSecure, other.name == name, CookieScope.isPath(path, within: other.path) else { return false }
            if other.domain == domain || CookieScope.isName(domain, below: other.domain) { return true }
            let isOfSite = suffixes.site(of: other.domain) == suffixes.site(of: domain)
            return CookieScope.isName(other.domain, below: domain)
                && (isOfSite || scope.domains.contains(other.domain))
        }
    }

    @Test(.rules("6265bis-5.7-6"), arguments: 1...8 as ClosedRange<UInt64>)
    func `a secure cookie is hidden by none that comes without TLS, wherever the two are for`(seed: UInt64) throws {
        var (number, refused, store) = (seed, 0, CookieStore(Self.suffixes))
        func next(_ below: Int) -> Int {
            number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((number >> 33) % UInt64(below))
        }
        for _ in 0..<1500 {
            let host = Self.hosts[next(Self.hosts.count)]
            let isSecure = next(3) == 0
            let scope = CookieScope(origin: HTTP.Origin(scheme: isSecure ? .https : .http, host: host), target: "/")
            let domains = scope.domains.filter { !Self.suffixes.contains($0) }
            let domain = next(2) == 0 || domains.isEmpty ? nil : domains[next(domains.count)]
            let (name, path) = ("n\(next(3))", Self.paths[next(Self.paths.count)])
            let isOutlived = next(4) == 0 ? "; Max-Age=0" : ""
            let attribute = domain.map { "; Domain=\($0)" } ?? ""
            let field = "\(name)=1; Path=\(path)\(attribute)\(isSecure ? "; Secure" : "")\(isOutlived)"
            let isHidden = Self.isRefused(name, domain: domain ?? host, path: path, from: scope, in: store)
            let isExpected = isSecure || !isHidden
            #expect(store.receive([Bytes(field)], from: scope, at: 0) == isExpected, "\(host): \(field)")
            if !isExpected { refused += 1 }
        }
        #expect(refused > 100)
    }

    @Test(arguments: hosts) func `the sites of a host's domains are found at once as each by itself`(host: String) {
        let scope = CookieScope(origin: HTTP.Origin(scheme: .https, host: host), target: "/")
        for suffixes in [Self.suffixes, PublicSuffixes()] {
            #expect(suffixes.sites(of: scope.domains) == scope.domains.map { suffixes.site(of: $0) })
        }
    }
}
