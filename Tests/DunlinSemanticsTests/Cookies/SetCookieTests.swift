import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSemantics

@Suite struct `A Set-Cookie field` {
    /// 2024-01-01 00:00:00 UTC.
    static let now: Int64 = 1_704_067_200

    private static func read(_ text: String) -> SetCookie? { SetCookie(Bytes(text), at: now) }

    @Test(
        .rules("6265bis-5.6-2", "6265bis-5.6-3", "6265bis-5.6-4", "6265bis-5.6-9"),
        arguments: [
            ("a=b", "a", "b"), (" a = b ", "a", "b"), ("\ta\t=\tb\t", "a", "b"), ("a=b=c", "a", "b=c"), ("a=", "a", ""),
            ("=b", "", "b"), ("b", "", "b"), ("a=\"b\"", "a", "\"b\""), ("a=\" b \"", "a", "\" b \""),
            ("a=b;", "a", "b"),
            ("a=b;;;x=y;", "a", "b"), ("a=b, c=d", "a", "b, c=d"), ("a=ü", "a", "ü"), ("==b", "", "=b"),
            ("a=b\tc", "a", "b\tc"),
        ])
    func `a Set-Cookie field has a name and a value`(text: String, name: String, value: String) {
        let set = Self.read(text)
        #expect(set?.name == name)
        #expect(set?.value == value)
    }

    @Test(
        .rules("6265bis-5.6-1", "6265bis-5.6-5"),
        arguments: [
            "", ";", "=", " = ; Path=/", "a=b\0", "a=b\u{1F}", "a=b\u{7F}", "a=b; Path=/\n", "a\rb=c",
        ])
    func `a Set-Cookie field without either, or with control characters, is ignored`(text: String) {
        #expect(Self.read(text) == nil)
    }

    @Test func `a Set-Cookie field that could not be sent back as it came is ignored`() {
        #expect(SetCookie(Bytes(Array("a=".utf8) + [0xFF]), at: Self.now) == nil)
    }

    @Test(.rules("6265bis-5.6-6", "6265bis-6.1-1"), arguments: [(4094, true), (4095, true), (4096, false)])
    func `a cookie has at most 4096 bytes of name and value`(count: Int, isRead: Bool) {
        #expect((Self.read("n=" + String(repeating: "v", count: count)) != nil) == isRead)
    }

    @Test(
        .rules("6265bis-5.6-7", "6265bis-5.6.3-1", "6265bis-5.6.3-2"),
        arguments: [
            ("; Domain=Example.COM", "example.com"), ("; domain=.example.com", "example.com"), ("; DOMAIN=", ""),
            ("; Domain", ""), ("; Domain=a; Domain=b", "b"), ("; Domain=a; Domain=", ""), ("", nil),
            ("; Domain=..a", ".a"), (" ;\t Domain \t=\t a ", "a"),
        ])
    func `a Set-Cookie field names a domain, the last one if there are several`(rest: String, domain: String?) {
        #expect(Self.read("a=b" + rest)?.domain == domain)
    }

    @Test(
        .rules("6265bis-5.6.4-1"),
        arguments: [
            ("; Path=/a", "/a"), ("; path=/a/ ", "/a/"), ("; Path=a", nil), ("; Path=", nil), ("; Path", nil),
            ("; Path=/a; Path=/b", "/b"), ("; Path=/a; Path=b", nil), ("; Path=\"/a\"", nil),
        ])
    func `a Set-Cookie field names a path that begins with a slash`(rest: String, path: String?) {
        #expect(Self.read("a=b" + rest)?.path == path)
    }

    @Test(.rules("6265bis-5.6-8")) func `an attribute beyond 1024 bytes is ignored`() {
        #expect(Self.read("a=b; Path=/a; Path=/" + String(repeating: "b", count: 1024))?.path == "/a")
        #expect(Self.read("a=b; Path=/" + String(repeating: "b", count: 1023))?.path?.utf8.count == 1024)
    }

    @Test(
        .rules("6265bis-5.5-1", "6265bis-5.6.1-1", "6265bis-5.6.1-2", "6265bis-5.6.2-2", "6265bis-5.6.2-3"),
        arguments: [
            ("; Max-Age=60", 60), ("; max-age=060", 60), ("; Max-Age=0", nil), ("; Max-Age=-1", nil),
            ("; Max-Age=-0", nil),
            ("; Max-Age=99999999999999999999", SetCookie.longestLife), ("; Max-Age=34560001", SetCookie.longestLife),
            ("; Expires=Mon, 01 Jan 2024 00:01:00 GMT", 60), ("; Expires=Mon, 01 Jan 2024 00:01:00 GMT; Max-Age=5", 5),
            ("; Max-Age=5; Expires=Mon, 01 Jan 2024 00:01:00 GMT", 5), ("; Max-Age=7; Max-Age=x", 7),
            ("; Expires=Fri, 31 Dec 9999 23:59:59 GMT", SetCookie.longestLife),
            ("; Expires=Mon, 01 Jan 2024 00:01:00 GMT; Expires=never", 60),
        ] as [(String, Int64?)])
    func `a cookie ends by Max-Age before Expires, and after 400 days at most`(rest: String, life: Int64?) {
        let expires = Self.read("a=b" + rest)?.expires
        #expect(expires == life.map { Self.now + $0 } ?? .min)
    }

    @Test(
        .rules("6265bis-5.6.1-1", "6265bis-5.6.2-1"),
        arguments: [
            "", "; Max-Age", "; Max-Age=", "; Max-Age=-", "; Max-Age=1x", "; Max-Age=+1", "; Max-Age=1.5",
            "; Max-Age=\"60\"", "; Expires=", "; Expires=soon",
        ])
    func `a cookie without an end that is understood ends with the session`(rest: String) {
        #expect(Self.read("a=b" + rest).map { $0.expires == nil } == true)
    }

    @Test(
        .rules("6265bis-5.6-7", "6265bis-5.6-9", "6265bis-5.6.5-1", "6265bis-5.6.6-1", "6265bis-5.6.7-1"),
        arguments: [
            ("; Secure; HttpOnly; SameSite=Strict", true, true, .strict), ("; secure=no; httponly=no", true, true, nil),
            ("; SAMESITE=LAX", false, false, .lax), ("; SameSite=None", false, false, .anywhere),
            ("; SameSite=Lax; SameSite=odd", false, false, nil), ("; Secured; Http-Only", false, false, nil),
        ] as [(String, Bool, Bool, HTTP.Cookie.SameSite?)])
    func `a Set-Cookie field has flags`(
        rest: String, isSecure: Bool, isHTTPOnly: Bool, sameSite: HTTP.Cookie.SameSite?
    ) {
        let set = Self.read("a=b" + rest)
        #expect(set?.isSecure == isSecure)
        #expect(set?.isHTTPOnly == isHTTPOnly)
        #expect(set?.sameSite == sameSite)
    }
}

@Suite struct `A cookie's date` {
    private static func seconds(_ text: String) -> Int64? { CookieDate.seconds(Array(text.utf8)[...]) }

    /// All of them the moment at which RFC 9110 has its example.
    @Test(
        .rules("6265bis-5.1.1-1", "6265bis-5.1.1-2", "6265bis-5.1.1-6"),
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "6 nov 94 8:49:37", "06 NOVEMBER 1994 08:49:37 +0500", "94 6 Nov 8:49:37", "08:49:37 6 Nov 94",
            "1994 Nov 6th 08:49:37pm", "Xxx, 06/Nov/1994;08:49:37", "\tNov,06,1994,08:49:37x",
            "Sun, 06 Nov 1994 08:49:37 GMT 07 Dec 2001 01:02:03",
        ])
    func `a cookie's date is read in any order`(text: String) {
        // "94 6 …" is the day 94 and the year 6, which there is not.
        #expect(Self.seconds(text) == (text.hasPrefix("94") ? nil : 784_111_777))
    }

    @Test(
        .rules("6265bis-5.1.1-3"),
        arguments: [
            ("1 Jan 70 0:0:0", 0), ("1 Jan 69 0:0:0", 3_124_224_000), ("1 Jan 1601 0:0:0", -11_644_473_600),
            ("29 Feb 2024 23:59:59", 1_709_251_199),
        ] as [(String, Int64)])
    func `a cookie's date of two digits gets a century`(text: String, seconds: Int64) {
        #expect(Self.seconds(text) == seconds)
    }

    @Test(
        .rules("6265bis-5.1.1-4", "6265bis-5.1.1-5"),
        arguments: [
            "", "Sun", "6 Nov 1994", "Nov 1994 08:49:37", "6 1994 08:49:37", "6 Nov 08:49:37", "32 Nov 1994 08:49:37",
            "0 Nov 1994 08:49:37", "30 Feb 2024 0:0:0", "29 Feb 2023 0:0:0", "1 Jan 1600 0:0:0", "6 Nov 1994 24:00:00",
            "6 Nov 1994 08:60:00", "6 Nov 1994 08:49:60", "6 Nov 19944 08:49:37", "6 Nov 1994 08:49",
            "6 Nov 1994 008:49:37",
            "6 No 1994 08:49:37", "6 Nov 1994 8:4 9:37",
        ])
    func `a cookie's date without all its parts is none`(text: String) {
        #expect(Self.seconds(text) == nil)
    }
}
