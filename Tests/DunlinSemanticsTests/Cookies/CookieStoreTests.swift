import DunlinTesting
import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSemantics

@Suite struct `A store of cookies` {
    private static let suffixes = PublicSuffixes(parsing: Array("com\nuk\nco.uk\n".utf8))

    private static func scope(_ url: String) throws -> CookieScope {
        let address = try WebAddress(url)
        return CookieScope(origin: address.origin, target: address.target)
    }

    /// What `url` is sent after the fields came, each from its URL.
    private static func sent(
        to url: String, after fields: [(String, String)], at now: Int64 = 1000
    ) throws -> [String] {
        var store = CookieStore(suffixes)
        for (from, field) in fields { store.receive([Bytes(field)], from: try scope(from), at: 1000) }
        return store.cookies(for: try scope(url), at: now).map { "\($0.name)=\($0.value)" }
    }

    static let journeys: [(String, String, String, [String])] = [
        ("https://a.com/", "x=1", "https://a.com/b", ["x=1"]),
        ("https://a.com/", "x=1", "https://b.a.com/", []),
        ("https://a.com/", "x=1", "http://a.com:8080/", ["x=1"]),
        ("https://a.com/", "x=1; Domain=a.com", "https://b.a.com/", ["x=1"]),
        ("https://b.a.com/", "x=1; Domain=a.com", "https://a.com/", ["x=1"]),
        ("https://b.a.com/", "x=1; Domain=c.a.com", "https://c.a.com/", []),
        ("https://a.com/", "x=1; Domain=b.a.com", "https://b.a.com/", []),
        ("https://a.com/", "x=1; Domain=com", "https://b.com/", []),
        ("https://a.co.uk/", "x=1; Domain=co.uk", "https://b.co.uk/", []),
        ("https://a.com./", "x=1; Domain=com.", "https://b.com./", []),
        ("https://co.uk/", "x=1; Domain=co.uk", "https://co.uk/", ["x=1"]),
        ("https://co.uk/", "x=1; Domain=co.uk", "https://a.co.uk/", []),
        ("http://localhost/", "x=1; Domain=localhost", "http://localhost/", ["x=1"]),
        ("http://10.0.0.1/", "x=1; Domain=10.0.0.1", "http://10.0.0.1/", ["x=1"]),
        ("http://10.0.0.1/", "x=1; Domain=0.0.1", "http://10.0.0.1/", []),
        ("http://[::1]/", "x=1; Domain=::1", "http://[::1]/", ["x=1"]),
        ("https://a.com/", "x=1; Domain=b.com", "https://a.com/", []),
        ("https://a.com/", "x=1; Domain=b.com; Domain=", "https://a.com/", ["x=1"]),
        ("https://a.com/", "x=1; Domain=a.com; Domain=", "https://a.com/", ["x=1"]),
        ("https://a.com/", "x=1; Domain=a.com; Domain=", "https://b.a.com/", []),
        ("https://a.com/", "x=1; Domain=a.com; Domain", "https://b.a.com/", []),
        ("https://a.com/", "x=1; Domain=; Domain=a.com", "https://b.a.com/", ["x=1"]),
        ("https://a.com/", "x=1; Domain=\u{E4}.com", "https://a.com/", []),
        ("https://a.com/d/e", "x=1", "https://a.com/d/f", ["x=1"]),
        ("https://a.com/d/e", "x=1", "https://a.com/", []),
        ("https://a.com/d/e", "x=1; Path=/", "https://a.com/", ["x=1"]),
        ("https://a.com/d/e", "x=1; Path=/z", "https://a.com/z/y?q", ["x=1"]),
        ("https://a.com/", "x=1; Secure", "https://a.com/", ["x=1"]),
        ("https://a.com/", "x=1; Secure", "http://a.com/", []),
        ("http://a.com/", "x=1; Secure", "https://a.com/", []),
        ("https://a.com/", "x=1; Max-Age=0", "https://a.com/", []),
        ("https://a.com/", "__Secure-x=1", "https://a.com/", []),
        ("https://a.com/", "__SECURE-x=1; Secure", "https://a.com/", ["__SECURE-x=1"]),
        ("https://a.com/", "__Host-x=1; Secure; Path=/", "https://a.com/", ["__Host-x=1"]),
        ("https://a.com/", "__host-x=1; Secure", "https://a.com/", []),
        ("https://a.com/", "__Host-x=1; Secure; Path=/b", "https://a.com/b", []),
        ("https://a.com/", "__Host-x=1; Secure; Path=/; Domain=a.com", "https://a.com/", []),
        ("https://a.com/", "__Host-x=1; Path=/", "https://a.com/", []),
        ("https://a.com/", "=__Host-x=1", "https://a.com/", []),
        ("https://a.com/", "=__Host-x=1; Secure; Path=/", "https://a.com/", []),
        ("https://a.com/", "= __sEcUrE-x=1; Secure", "https://a.com/", []),
        ("https://a.com/", "__Secure-x; Secure", "https://a.com/", []),
        ("https://a.com/", "x", "https://a.com/", ["=x"]),
    ]

    @Test(
        .rules(
            "6265bis-5.4-1", "6265bis-5.4-2", "6265bis-5.6.3-2", "6265bis-5.6.4-1", "6265bis-5.7-1", "6265bis-5.7-2",
            "6265bis-5.7-3", "6265bis-5.7-4", "6265bis-5.7-5", "6265bis-5.7-7", "6265bis-5.8.3-1", "6265bis-5.8.3-2",
            "6265bis-5.8.3-3", "6265bis-6.3-1"), arguments: journeys)
    func `a store sends to a server what it and its kin may set`(
        from: String, field: String, url: String, expected: [String]
    ) throws {
        #expect(try Self.sent(to: url, after: [(from, field)]) == expected)
    }

    /// What goes to a.com/login after a secure x=1 for all of a.com came from there, and then this.
    @Test(
        .rules("6265bis-5.7-6"),
        arguments: [
            ("http://a.com/", "x=2; Path=/login", ["x=1"]), ("http://a.com/", "x=2; Path=/login/form", ["x=1"]),
            ("http://b.a.com/", "x=2; Path=/login; Domain=a.com", ["x=1"]),
            ("http://a.com/", "x=; Max-Age=0; Path=/login; Domain=a.com", ["x=1"]),
            ("http://a.com/", "x=2; Path=/", ["x=1", "x=2"]), ("http://a.com/", "y=2; Path=/login", ["x=1", "y=2"]),
            ("https://a.com/", "x=2; Path=/login", ["x=1", "x=2"]),
            ("https://a.com/", "x=2; Path=/login; Domain=a.com", ["x=2"]),
            ("http://a.com/", "=x=2; Path=/login", ["x=1"]), ("http://a.com/", "= x =2; Path=/login", ["x=1"]),
            ("http://b.a.com/", "=x=2; Path=/login; Domain=a.com", ["x=1"]),
            ("http://a.com/", "=x=; Max-Age=0; Path=/login; Domain=a.com", ["x=1"]),
            ("http://a.com/", "==x=2; Path=/login", ["x=1", "==x=2"]),
            ("http://a.com/", "x; Path=/login", ["x=1", "=x"]),
            ("https://a.com/", "=x=2; Path=/login; Domain=a.com", ["x=1", "=x=2"]),
        ])
    func `a secure cookie stays as it is where a change does not come from https`(
        from: String, field: String, sent: [String]
    ) throws {
        let first = ("https://a.com/", "x=1; Secure; Path=/login; Domain=a.com")
        #expect(try Self.sent(to: "https://a.com/login", after: [first, (from, field)]) == sent)
    }

    @Test(.rules("6265bis-5.7-9", "6265bis-5.8.3-6"))
    func `cookies with longer paths are sent first, then older cookies`() throws {
        let from = "https://a.com/"
        let fields = [
            "a=1; Path=/", "b=1; Path=/p/q", "c=1; Path=/p", "d=1; Path=/", "a=2; Path=/", "e=1; Domain=a.com; Path=/",
        ]
        let sent = try Self.sent(to: "https://a.com/p/q", after: fields.map { (from, $0) })
        #expect(sent == ["b=1", "c=1", "a=2", "d=1", "e=1"])
    }

    @Test(.rules("6265bis-5.7-8")) func `cookies that differ in domain, host, path or bytes are kept apart`() throws {
        let fields = [
            "x=1; Path=/", "x=2; Path=/a", "x=3; Path=/; Domain=a.com", "\u{E9}=4; Path=/", "e\u{301}=5; Path=/",
        ]
        let sent = try Self.sent(to: "https://a.com/a", after: fields.map { ("https://a.com/", $0) })
        #expect(sent.count == 5)
    }

    @Test(
        .rules("6265bis-5.7-8"),
        arguments: [
            (["a", "b"], ["=b"]), (["=a=1", "b"], ["=b"]), (["=a=1", "=b=2"], ["=b=2"]), (["=a", "a"], ["=a"]),
            (["a=1", "=a=2"], ["a=1", "=a=2"]), (["=a=1", "a=2"], ["=a=1", "a=2"]),
            (["a", "b; Path=/p"], ["=b", "=a"]),
            (["a", "; Max-Age=0"], ["=a"]), (["a", "x; Max-Age=0"], []),
        ])
    func `two cookies without a name are one, whatever stands in them`(fields: [String], sent: [String]) throws {
        #expect(try Self.sent(to: "https://a.com/p", after: fields.map { ("https://a.com/", $0) }) == sent)
    }

    @Test(.rules("6265bis-5.6.2-2", "6265bis-5.7-11"))
    func `a store forgets a cookie that has expired, or that its server ended`() throws {
        let set = ("https://a.com/", "x=1; Max-Age=10")
        #expect(try Self.sent(to: "https://a.com/", after: [set], at: 1009) == ["x=1"])
        #expect(try Self.sent(to: "https://a.com/", after: [set], at: 1010) == [])
        #expect(try Self.sent(to: "https://a.com/", after: [set, ("https://a.com/", "x=; Max-Age=0")]) == [])
    }

    @Test(.rules("6265bis-5.7-12", "6265bis-5.8.3-7"))
    func `a domain beyond its limit loses its least used and insecure cookies first`() throws {
        var limits = CookieStore.Limits()
        limits.perDomain = 3
        var store = CookieStore(Self.suffixes, limits: limits)
        let scope = try Self.scope("https://a.com/")
        func receive(_ field: String) { store.receive([Bytes(field)], from: scope, at: 0) }
        func names() -> [String] { store.all(at: 0).map(\.name) }
        receive("s=1; Secure")
        receive("a=1; Path=/a")
        receive("b=1; Path=/b")
        #expect(store.use(for: try Self.scope("https://a.com/a"), at: 0).cookies.map(\.name) == ["a", "s"])
        receive("c=1")
        #expect(names() == ["s", "a", "c"])
        receive("d=1; Max-Age=5")
        #expect(names() == ["s", "c", "d"])
        store.receive([Bytes("e=1")], from: scope, at: 6)
        #expect(store.all(at: 6).map(\.name) == ["s", "c", "e"])
        #expect(store.count == 3)
    }

    @Test(.rules("6265bis-5.7-12", "6265bis-5.8.3-7"))
    func `a store beyond its limit loses its least used cookies first`() throws {
        var limits = CookieStore.Limits()
        limits.total = 2
        var store = CookieStore(Self.suffixes, limits: limits)
        for host in ["a.com", "b.com"] { store.receive([Bytes("x=1")], from: try Self.scope("http://\(host)/"), at: 0) }
        _ = store.use(for: try Self.scope("http://a.com/"), at: 0)
        store.receive([Bytes("x=1")], from: try Self.scope("http://c.com/"), at: 0)
        #expect(store.all(at: 0).map(\.domain) == ["a.com", "c.com"])
        limits.total = 0
        store = CookieStore(limits: limits)
        store.receive([Bytes("x=1")], from: try Self.scope("http://c.com/"), at: 0)
        #expect(store.count == 0)
    }

    @Test func `a use of what was sent last counts like any other`() throws {
        var limits = CookieStore.Limits()
        limits.total = 2
        var store = CookieStore(Self.suffixes, limits: limits)
        let scopes = try ["a", "b", "c"].map { try Self.scope("http://\($0).com/") }
        for scope in scopes.prefix(2) { store.receive([Bytes("x=1")], from: scope, at: 0) }
        for index in [0, 1, 0] { _ = store.use(for: scopes[index], at: 0) }
        store.receive([Bytes("x=1")], from: scopes[2], at: 0)
        #expect(store.all(at: 0).map(\.domain) == ["a.com", "c.com"])
    }

    @Test func `a value that only Unicode takes for the former one is sent instead`() throws {
        var store = CookieStore()
        let scope = try Self.scope("http://a.com/")
        for value in ["\u{E9}", "e\u{301}"] {
            let changes = store.changes
            store.receive([Bytes("x=\(value)")], from: scope, at: 0)
            #expect(store.changes > changes)
            #expect(store.use(for: scope, at: 0).field.map { Array($0.utf8) } == Array("x=\(value)".utf8))
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `what is sent is what the cookies say, whatever was sent last`(seed: UInt64) throws {
        var limits = CookieStore.Limits()
        (limits.perDomain, limits.total) = (4, 9)
        var (store, numbers) = (CookieStore(Self.suffixes, limits: limits), SeededGenerator(seed: seed))
        let scopes = try [
            "http://a.com/p", "https://a.com/p/q", "https://www.a.com/", "http://b.com/", "http://1.2.3.4/p",
        ]
        .map(Self.scope)
        let fields = [
            "x=1", "x=2", "y=1; Path=/", "y=1; Path=/p", "z=1; Max-Age=3", "z=; Max-Age=0", "w=1; Domain=a.com",
        ]
        for _ in 0..<200 {
            // Clocks are set back, too.
            let (now, scope) = (
                Int64.random(in: 0..<8, using: &numbers), try #require(scopes.randomElement(using: &numbers))
            )
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0: store.receive([Bytes(try #require(fields.randomElement(using: &numbers)))], from: scope, at: now)
            case 1: store.remove { $0.name == "x" }
            default:
                let expected = store.cookies(for: scope, at: now)
                let given = store.use(for: scope, at: now)
                #expect(given.cookies == expected)
                #expect(given.field == CookieField.joined([], expected))
            }
        }
    }

    @Test func `a store removes what it is told to`() throws {
        var store = CookieStore()
        store.receive(
            [Bytes("x=1"), Bytes("y=1"), Bytes("bad\0")], from: try Self.scope("http://a.test/"), at: 0)
        #expect(store.count == 2)
        #expect(store.remove { $0.name == "x" } == 1)
        #expect(store.all(at: 0).map(\.name) == ["y"])
        #expect(store.remove { _ in true } == 1)
        #expect(store.count == 0)
    }
}
