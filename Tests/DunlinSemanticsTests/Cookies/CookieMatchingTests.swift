import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSemantics

@Suite struct `Where a cookie goes` {
    private static func scope(_ url: String) throws -> CookieScope {
        let address = try WebAddress(url)
        return CookieScope(origin: address.origin, target: address.target)
    }

    @Test(
        .rules("6265bis-5.1.2-1", "6265bis-5.1.3-1", "6265bis-5.1.3-2"),
        arguments: [
            ("http://example.com/", "example.com", true), ("http://www.example.com/", "example.com", true),
            ("http://a.b.example.com/", "b.example.com", true), ("http://example.com/", "www.example.com", false),
            ("http://badexample.com/", "example.com", false), ("http://example.com/", "", false),
            ("http://example.com/", ".com", false), ("http://10.0.0.1/", "10.0.0.1", true),
            ("http://10.0.0.1/", "0.0.1", false), ("http://[::1]/", "::1", true), ("http://[::1]/", "1", false),
            ("http://example.com./", "example.com", false), ("http://EXAMPLE.com/", "example.com", true),
        ])
    func `a cookie goes to its host or those below, and never to a part of an address`(
        url: String, domain: String, isWithin: Bool
    ) throws {
        let scope = try Self.scope(url)
        #expect(scope.isWithin(domain) == isWithin)
        if isWithin { #expect(scope.domains.contains(domain)) }
    }

    @Test func `a cookie is looked for at the host and all domains above`() throws {
        #expect(try Self.scope("http://a.b.c/").domains == ["a.b.c", "b.c", "c"])
        #expect(try Self.scope("http://10.0.0.1/").domains == ["10.0.0.1"])
    }

    @Test(
        .rules("6265bis-5.1.4-2", "6265bis-5.8.3-2"),
        arguments: [
            ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/", "/a", true), ("/a/b", "/a", true),
            ("/a/b", "/a/", true), ("/ab", "/a", false), ("/a", "/a/", false), ("/", "/a", false), ("/A", "/a", false),
            ("/a%2Fb", "/a", false),
        ])
    func `a cookie goes to its path or those below`(path: String, cookie: String, isWithin: Bool) {
        #expect(CookieScope.isPath(path, within: cookie) == isWithin)
    }

    @Test(
        .rules("6265bis-5.1.4-1"),
        arguments: [
            ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/c?d/e", "/a/b"), ("/?a/b", "/"), ("*", "/"),
            ("/a/b/", "/a/b"), ("", "/"),
        ])
    func `a cookie without a path goes to the directory that was asked for`(target: String, path: String) {
        let origin = HTTP.Origin(scheme: .http, host: "a.test")
        #expect(CookieScope(origin: origin, target: target).defaultPath == path)
    }
}

@Suite struct `Public suffixes` {
    private static let some = PublicSuffixes(
        parsing: Array(
            """
            // a comment
            com
            uk   the rest of a line is none of the rule

            co.uk
            *.ck
            !www.ck
            公司.cn
            a.*.b
            *
            GitHub.io
            """.utf8))

    @Test(arguments: [
        ("com", true), ("example.com", false), ("uk", true), ("co.uk", true), ("x.co.uk", false), ("ck", true),
        ("any.ck", true), ("www.ck", false), ("a.www.ck", false), ("a.any.ck", false), ("xn--55qx5d.cn", true),
        ("unknown", true), ("localhost", true), ("a.unknown", false), ("com.", true), ("co.uk.", true),
        ("github.io", true), ("me.github.io", false), ("", true), ("a.x.b", false),
    ])
    func `public suffixes are what the rules say, and every single label`(domain: String, isSuffix: Bool) {
        #expect(Self.some.contains(domain) == isSuffix)
    }

    @Test(arguments: [
        ("com", "com"), ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("co.uk", "co.uk"),
        ("x.co.uk", "x.co.uk"), ("a.x.co.uk", "x.co.uk"), ("any.ck", "any.ck"), ("a.b.any.ck", "b.any.ck"),
        ("www.ck", "www.ck"), ("a.www.ck", "www.ck"), ("me.github.io", "me.github.io"), ("a.unknown", "a.unknown"),
        ("b.a.unknown", "a.unknown"), ("a.example.com.", "example.com"), ("localhost", "localhost"),
        ("10.0.0.1", "10.0.0.1"), ("::1", "::1"), ("2001:db8::1", "2001:db8::1"), ("", ""),
    ])
    func `public suffixes tell whose a host is`(host: String, site: String) {
        #expect(Self.some.site(of: host) == site)
        if !host.contains("uk"), !host.contains("ck"), !host.contains("github") {
            #expect(PublicSuffixes().site(of: host) == site)
        }
    }

    @Test func `public suffixes without rules are all single labels`() {
        #expect(PublicSuffixes().contains("com"))
        #expect(!PublicSuffixes().contains("co.uk"))
        #expect(PublicSuffixes(parsing: [0xFF, 0x0A, 0x0D, 0x0A, 0x21, 0x0A, 0x2A, 0x2E]).count == 0)
        #expect(Self.some.count == 7)
    }
}

@Suite struct `A Cookie field` {
    private static func cookie(_ name: String, _ value: String) -> HTTP.Cookie {
        HTTP.Cookie(name: name, value: value, domain: "a.test")
    }

    @Test(
        .rules("6265bis-4.2-1", "6265bis-5.8.3-8"),
        arguments: [
            ([], [], nil), ([], [("a", "1")], "a=1"), ([], [("a", "1"), ("", "2"), ("a", "3")], "a=1; 2; a=3"),
            (["x=1"], [], "x=1"), (["x=1"], [("a", "2")], "x=1; a=2"), (["x=1"], [("x", "2")], "x=1"),
            (["x=1; y=2", " z =3"], [("y", "0"), ("z", "0"), ("X", "4")], "x=1; y=2;  z =3; X=4"), ([""], [], nil),
            (["plain"], [("", "1"), ("plain", "2")], "plain; plain=2"),
            (["x=1"], [("", "x=2"), ("", "y=3"), ("", "=x=4")], "x=1; y=3; =x=4"),
        ] as [([String], [(String, String)], String?)])
    func `a Cookie field has the caller's own cookies first, and no name of theirs again`(
        own: [String], cookies: [(String, String)], field: String?
    ) {
        #expect(CookieField.joined(own, cookies.map { Self.cookie($0.0, $0.1) }) == field)
    }
}
