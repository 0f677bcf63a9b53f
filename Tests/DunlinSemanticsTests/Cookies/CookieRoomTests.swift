import DunlinTypes
import Glibc
import LedgerRows
import Testing

@testable import DunlinSemantics

/// What a store does with more than it has room for.
@Suite struct `Room for cookies` {
    private static let suffixes = PublicSuffixes(parsing: Array("com\nuk\nco.uk\n".utf8))

    private static func scope(_ url: String) throws -> CookieScope {
        let address = try WebAddress(url)
        return CookieScope(origin: address.origin, target: address.target)
    }

    private static func fields(_ names: Range<Int>, _ attributes: String = "") -> [Bytes] {
        names.map { Bytes("n\($0)=1" + attributes) }
    }

    /// A store in which so many sites have one cookie each.
    private static func store(
        sites: Int, attributes: String = "; Secure", _ change: (inout CookieStore.Limits) -> Void = { _ in }
    ) throws -> CookieStore {
        var limits = CookieStore.Limits()
        change(&limits)
        var store = CookieStore(suffixes, limits: limits)
        for site in 0..<sites {
            store.receive(fields(0..<1, attributes), from: try scope("https://s\(site).com/"), at: 0)
        }
        return store
    }

    @Test(.rules("6265bis-6.1-3")) func `redirects from host to host take no room from the cookies of others`() throws {
        var store = try Self.store(sites: 2500)
        for hop in 0..<19 {
            let url = "https://h\(hop).evil.com/"
            store.receive(Self.fields(0..<180, "; Secure"), from: try Self.scope(url), at: 0)
        }
        let domains = Set(store.all(at: 0).map(\.domain))
        #expect((0..<2500).allSatisfy { domains.contains("s\($0).com") })
        #expect(store.count == 2680)
    }

    /// By then there are as many of theirs as of all others together.
    @Test(.rules("6265bis-6.1-3"))
    func `the sites that hold most lose their cookies, however many join to fill the room`() throws {
        var store = try Self.store(sites: 1500, attributes: "")
        for hop in 0..<19 {
            store.receive(Self.fields(0..<180, "; Secure"), from: try Self.scope("https://evil\(hop).com/"), at: 0)
        }
        let domains = store.all(at: 0).map(\.domain)
        #expect(store.count == 3000)
        #expect(Set(domains).count == 1519)
        let shares = Dictionary(domains.filter { $0.hasPrefix("evil") }.map { ($0, 1) }, uniquingKeysWith: +).values
        #expect(shares.max() == 79 && shares.min() == 78)
    }

    /// A hop brings 180 cookies into a full store. Each of them may cost as much as its own site is large, but not what
    /// others hold: a store of twice the size makes a few comparisons more.
    @Test func `a cookie costs no more in a store of many sites than in one of few`() throws {
        func steps(sites: Int) throws -> Int {
            var store = try Self.store(sites: sites) { $0.total = sites }
            let before = store.steps
            store.receive(Self.fields(0..<180), from: try Self.scope("https://evil.com/"), at: 0)
            #expect(store.count == sites)
            return store.steps - before
        }
        let (few, many) = (try steps(sites: 1500), try steps(sites: 3000))
        #expect(few < 30_000)
        #expect(many < few + 2_000)
    }

    @Test func `an expired cookie costs one look at all that is kept, whatever a response brings`() throws {
        var store = try Self.store(sites: 2999)
        store.receive(Self.fields(0..<1, "; Max-Age=5"), from: try Self.scope("https://short.com/"), at: 0)
        let before = store.steps
        store.receive(Self.fields(0..<180), from: try Self.scope("https://evil.com/"), at: 6)
        #expect(store.steps - before < 30_000 + 3_180)
        #expect(!store.all(at: 0).contains { $0.domain == "short.com" })
    }

    @Test(arguments: [("https", 180), ("http", 180)])
    func `room for a cookie is looked for within its own site alone`(scheme: String, count: Int) throws {
        var store = try Self.store(sites: 2000)
        let (before, url) = (store.steps, "\(scheme)://evil.com/")
        store.receive(Self.fields(0..<count), from: try Self.scope(url), at: 0)
        #expect(store.steps - before < count * count)
    }

    /// Of this thread alone, so that it does not matter what else the machine does; in nanoseconds.
    private static func time(_ work: () throws -> Void) rethrows -> Int64 {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        let start = now()
        try work()
        return now() - start
    }

    /// Each of its cookies is for another of the domains above the host. Where each was compared with all of them, a
    /// host of four times as many labels would take sixteen times as long.
    @Test(arguments: ["http", "https"])
    func `a host of many labels costs its cookies what its length costs`(scheme: String) throws {
        func cost(labels: Int) throws -> Int64 {
            let host = (0..<labels).map { "l\($0 % 10)" }.joined(separator: ".") + ".com"
            let parts = host.split(separator: ".")
            let fields = (0..<180).map { number in
                Bytes("n\(number)=1; Domain=\(parts.dropFirst(number % labels).joined(separator: "."))")
            }
            let scope = try Self.scope("\(scheme)://\(host)/")
            var store = CookieStore(Self.suffixes)
            let secure = fields.map { Bytes($0.array + Array("; Secure; Path=/p\($0.count)".utf8)) }
            store.receive(secure, from: try Self.scope("https://\(host)/"), at: 0)
            return Self.time { store.receive(fields, from: scope, at: 1) }
        }
        let growth = try (0..<3).map { _ in
            let few = try cost(labels: 15)
            return Double(try cost(labels: 60)) / Double(few)
        }
        #expect((growth.min() ?? 0) < 6, "\(growth)")
    }

    @Test(.rules("6265bis-6.1-2")) func `only the first fields of a response get room in the store`() throws {
        var store = CookieStore(Self.suffixes)
        store.receive(Self.fields(0..<500), from: try Self.scope("https://a.com/"), at: 0)
        #expect(store.all(at: 0).map(\.name) == (0..<180).map { "n\($0)" })
    }

    @Test(arguments: [
        ("a.com", "b.a.com", 3), ("a.co.uk", "b.co.uk", 6), ("10.0.0.1", "10.1.0.1", 6), ("a.com", "a.com.", 3),
        ("[::1]", "[::2]", 6), ("localhost", "a.localhost", 6),
    ])
    func `all hosts of a registrable domain share the room for cookies`(first: String, second: String, count: Int)
        throws
    {
        var limits = CookieStore.Limits()
        limits.perDomain = 3
        var store = CookieStore(Self.suffixes, limits: limits)
        for host in [first, second] {
            store.receive(Self.fields(0..<3), from: try Self.scope("https://\(host)/"), at: 0)
        }
        #expect(store.count == count)
    }

    @Test func `secure cookies are kept longest, within a site and between equals`() throws {
        var store = try Self.store(sites: 2) { $0.total = 3 }
        store.receive(Self.fields(0..<1), from: try Self.scope("http://plain.com/"), at: 0)
        store.receive(Self.fields(0..<1, "; Secure"), from: try Self.scope("https://s2.com/"), at: 0)
        #expect(store.all(at: 0).map(\.domain) == ["s0.com", "s1.com", "s2.com"])
        store.receive(Self.fields(1..<2), from: try Self.scope("https://s0.com/"), at: 0)
        #expect(store.all(at: 0).map(\.name) == ["n0", "n0", "n0"])
    }

    @Test(.rules("6265bis-5.7-12")) func `expired cookies make room before any other goes`() throws {
        var store = try Self.store(sites: 3) { $0.total = 4 }
        store.receive(Self.fields(0..<1, "; Secure; Max-Age=5"), from: try Self.scope("https://short.com/"), at: 0)
        store.receive(Self.fields(0..<1), from: try Self.scope("https://late.com/"), at: 5)
        #expect(store.all(at: 5).map(\.domain) == ["s0.com", "s1.com", "s2.com", "late.com"])
        #expect(store.count == 4)
    }

    @Test(arguments: [(Int.max, 4), (.min, 0), (-1, 0), (0, 0), (1, 1)])
    func `any number may limit the room for cookies`(limit: Int, count: Int) throws {
        let changes: [WritableKeyPath<CookieStore.Limits, Int>] = [\.perDomain, \.total, \.perResponse]
        for change in changes {
            var store = try Self.store(sites: 0) { $0[keyPath: change] = limit }
            store.receive(Self.fields(0..<4), from: try Self.scope("https://a.com/"), at: 0)
            #expect(store.count == count)
            store.put(store.all(at: 0), at: .max)
            #expect(store.count == count)
        }
    }

    /// The heap against what a look at all would find.
    @Test func `the counts of cookies are right, whatever comes and goes`() throws {
        var store = try Self.store(sites: 0) { ($0.total, $0.perDomain) = (40, 7) }
        var number: UInt64 = 1
        func next(_ below: UInt64) -> UInt64 {
            number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (number >> 33) % below
        }
        for now in 0..<2000 {
            let scope = try Self.scope("https://h\(next(3)).s\(next(20)).com/")
            switch next(8) {
            case 0: _ = store.use(for: scope, at: Int64(now))
            case 1: store.remove { $0.domain == scope.host }
            default:
                let life = next(3) == 0 ? "; Max-Age=\(next(40))" : next(2) == 0 ? "; Secure" : ""
                store.receive([Bytes("n\(next(9))=1" + life)], from: scope, at: Int64(now))
            }
            let kept = store.domains.values.flatMap { held in held.cookies.values.map { (held.site, $0) } }
            let counts = Dictionary(kept.map { ($0.0, 1) }, uniquingKeysWith: +)
            #expect(store.count == kept.count && kept.count <= 40)
            #expect(store.sites.first?.count == counts.values.max())
            for (site, count) in counts {
                #expect(count <= 7 && store.sites[site]?.count == count)
                #expect(store.sites[site]?.plain == kept.count { $0.0 == site && $0.1.isPlain })
            }
        }
        store.remove { _ in true }
        #expect(store.sites.first == nil && store.domains.isEmpty)
    }
}
