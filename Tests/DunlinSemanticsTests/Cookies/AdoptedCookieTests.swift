import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSemantics

@Suite struct AdoptedCookieTests {
    private static let suffixes = PublicSuffixes(parsing: Array("test\nco.test\n".utf8))

    private static func cookie(
        _ name: String, of domain: String = "a.test", below: Bool = false, path: String = "/", isSecure: Bool = false,
        value: String = "v", expires: Int64? = nil
    ) -> HTTP.Cookie {
        HTTP.Cookie(
            name: name, value: value, domain: domain, isHostOnly: !below, path: path, expires: expires,
            isSecure: isSecure, isHTTPOnly: true, sameSite: .lax)
    }

    @Test(arguments: [
        cookie("n"), cookie("n", below: true, path: "/x"), cookie("n", isSecure: true, expires: 2000),
        cookie("__Secure-n", below: true, isSecure: true), cookie("__Host-n", isSecure: true), cookie("", value: "v"),
    ])
    func `a cookie is stored with all its attributes`(cookie: HTTP.Cookie) {
        var store = CookieStore(Self.suffixes)
        #expect(store.adopt([cookie], at: 1000).isEmpty)
        #expect(store.all(at: 1000) == [cookie])
    }

    @Test(
        .rules("6265bis-5.4-2"),
        arguments: [
            cookie("__Secure-n"), cookie("__SECURE-n"), cookie("__Host-n"),
            cookie("__Host-n", below: true, isSecure: true),
            cookie("__host-n", path: "/x", isSecure: true), cookie("", value: "__Host-n=v"), cookie("n", of: "A.test"),
            cookie("n", of: ".a.test"), cookie("n", path: "x"), cookie("n", value: "a\nb"), cookie("", value: ""),
        ])
    func `what breaks its name's promise, or cannot be sent, is refused`(cookie: HTTP.Cookie) {
        var store = CookieStore(Self.suffixes)
        #expect(store.adopt([cookie, Self.cookie("good")], at: 1000) == [cookie])
        #expect(store.all(at: 1000).map(\.name) == ["good"])
    }

    @Test(.rules("6265bis-5.7-1"), arguments: ["test", "co.test", "10.0.0.1", "::1", "localhost"])
    func `a cookie for a public suffix or an address is for that host alone`(domain: String) {
        var store = CookieStore(Self.suffixes)
        #expect(store.adopt([Self.cookie("n", of: domain, below: true)], at: 1000).isEmpty)
        #expect(store.all(at: 1000).map(\.isHostOnly) == [true])
        for host in ["b.\(domain)", domain] {
            let scope = CookieScope(origin: HTTP.Origin(scheme: .https, host: host), target: "/")
            #expect(store.cookies(for: scope, at: 1000).count == (host == domain ? 1 : 0))
        }
    }

    @Test(.rules("6265bis-5.7-11")) func `an expired cookie removes its like`() {
        var store = CookieStore(Self.suffixes)
        _ = store.adopt([Self.cookie("n")], at: 1000)
        #expect(store.adopt([Self.cookie("n", expires: 999)], at: 1000).isEmpty)
        #expect(store.all(at: 0).isEmpty)
    }
}
