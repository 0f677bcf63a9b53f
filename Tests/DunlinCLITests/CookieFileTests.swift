import Dunlin
import DunlinCommandLine
import Testing

@Suite struct CookieFileTests {
    private static func cookie(
        _ name: String, _ value: String, of domain: String = "a.test", below: Bool = false, path: String = "/",
        expires: Int64? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false
    ) -> HTTP.Cookie {
        HTTP.Cookie(
            name: name, value: value, domain: domain, isHostOnly: !below, path: path, expires: expires,
            isSecure: isSecure, isHTTPOnly: isHTTPOnly)
    }

    @Test(
        arguments: [
            ("a.test\tFALSE\t/\tFALSE\t0\tn\tv", cookie("n", "v")),
            (
                ".a.test\tTRUE\t/x\tTRUE\t99\tn\tv",
                cookie("n", "v", below: true, path: "/x", expires: 99, isSecure: true)
            ),
            ("a.test\tTRUE\t/\tFALSE\t0\tn\tv", cookie("n", "v", below: true)),
            (".a.test\tFALSE\t/\tFALSE\t0\tn\tv", cookie("n", "v")),
            ("#HttpOnly_a.test\tFALSE\t/\tFALSE\t0\tn\tv", cookie("n", "v", isHTTPOnly: true)),
            ("#HttpOnly_.A.Test\ttrue\t/\tfalse\t0\tn\tv", cookie("n", "v", below: true, isHTTPOnly: true)),
            ("a.test\tFALSE\t/\tFALSE\t0\tn\t", cookie("n", "")), ("a.test\tFALSE\t/\tFALSE\t0\tn", cookie("n", "")),
            ("a.test\tFALSE\t/\tFALSE\t0\t\tv", cookie("", "v")),
            ("a.test\tFALSE\t/\tFALSE\t0\tn\tv=w \"x\"", cookie("n", "v=w \"x\"")),
            ("a.test\tFALSE\t/\tFALSE\t1700000000.25\tn\tv", cookie("n", "v", expires: 1_700_000_000)),
            ("a.test\tFALSE\t/\tFALSE\t99999999999999999999\tn\tv", cookie("n", "v", expires: 253_402_300_799)),
            ("::1\tFALSE\t/\tFALSE\t0\tn\tv", cookie("n", "v", of: "::1")),
            ("[::1]\tFALSE\t/\tFALSE\t0\tn\tv", cookie("n", "v", of: "::1")),
            ("\u{FEFF}a.test\tFALSE\t/\tFALSE\t0\tn\tvé", cookie("n", "vé")),
        ])
    func `a line is a cookie with all its attributes`(line: String, expected: HTTP.Cookie) {
        for end in ["", "\n", "\r\n"] {
            let file = CookieFile(Array((line + end).utf8))
            #expect(file.cookies == [expected] && file.wrongLines == 0, "\(line)")
        }
    }

    @Test(arguments: [
        "", "\n\n", "\r\n", "# Netscape HTTP Cookie File\n", "#a.test\tFALSE\t/\tFALSE\t0\tn\tv", " \t\n",
    ])
    func `comments and empty lines are neither cookies nor wrong`(text: String) {
        let file = CookieFile(Array(text.utf8))
        #expect(file.cookies.isEmpty && file.wrongLines == 0)
    }

    @Test(
        arguments: [
            "n=v", "Set-Cookie: n=v; Path=/", "a.test FALSE / FALSE 0 n v", "a.test\tFALSE\t/\tFALSE\t0",
            "a.test\tFALSE\t/\tFALSE\t0\tn\tv\tw", "a.test\tFALSE\tx\tFALSE\t0\tn\tv", "a.test\tYES\t/\tFALSE\t0\tn\tv",
            "a.test\tFALSE\t/\t1\t0\tn\tv", "a.test\tFALSE\t/\tFALSE\t-1\tn\tv", "a.test\tFALSE\t/\tFALSE\t\tn\tv",
            "a.test\tFALSE\t/\tFALSE\t1.\tn\tv", "a.test\tFALSE\t/\tFALSE\t0x1\tn\tv", "\tFALSE\t/\tFALSE\t0\tn\tv",
            "..a.test\tFALSE\t/\tFALSE\t0\tn\tv", "a b\tFALSE\t/\tFALSE\t0\tn\tv", "ä.test\tFALSE\t/\tFALSE\t0\tn\tv",
            "##\tFALSE\t/\tFALSE\t0\tn\tv".replacing("##", with: "#HttpOnly_#"), "a.test\tFALSE\t/\tFALSE\t0\t\t",
            "a.test\tFALSE\t/\tFALSE\t0\tn=m\tv", "a.test\tFALSE\t/\tFALSE\t0\tn\tv;w",
            "a.test\tFALSE\t/\tFALSE\t0\tn\tv\r\r",
            "a.test\tFALSE\t/\u{1}\tFALSE\t0\tn\tv", "a.test\tFALSE\t/\tFALSE\t0\tn\t\0",
            "a.test\tFALSE\t/\tFALSE\t0\tn\t" + String(repeating: "v", count: 4096),
            "a.test\tFALSE\t/" + String(repeating: "x", count: 9000) + "\tFALSE\t0\tn\tv",
        ])
    func `a line that is no cookie is counted, and those around it are read`(line: String) {
        let good = "a.test\tFALSE\t/\tFALSE\t0\tn\tv\n"
        let file = CookieFile(Array((good + line + "\n" + good).utf8))
        #expect(file.cookies.count == 2 && file.wrongLines == 1)
    }

    @Test func `a line of bytes that are no text is wrong`() {
        let file = CookieFile(Array("a.test\tFALSE\t/\tFALSE\t0\tn\t".utf8) + [0xFF, 0x0A])
        #expect(file.cookies.isEmpty && file.wrongLines == 1)
    }

    @Test func `what was written is read again as it was`() {
        let cookies = [
            Self.cookie("a", "1"), Self.cookie("b", "2", below: true, path: "/p", expires: 42),
            Self.cookie("", "value"), Self.cookie("#c", "", isSecure: true, isHTTPOnly: true),
            Self.cookie("__Host-d", "é \" =", of: "::1", isSecure: true), Self.cookie("e", "x", of: "127.0.0.1"),
        ]
        let (text, leftOut) = CookieFile.written(cookies)
        #expect(text.hasPrefix("# Netscape HTTP Cookie File\n") && leftOut == 0)
        let file = CookieFile(Array(text.utf8))
        #expect(file.cookies == cookies && file.wrongLines == 0)
    }

    @Test func `nothing in a cookie can break the file`() {
        let bad = ["x\ty", "x\ny", "x\r\ny", "\0", "x\u{7F}"]
        let cookies =
            bad.flatMap { [Self.cookie("n", $0), Self.cookie($0, "v"), Self.cookie("n", "v", path: "/\($0)")] } + [
                Self.cookie("n", "v", of: "#a.test"), Self.cookie("n", "v", of: ""), Self.cookie("n", "v", path: "x"),
                Self.cookie("n", "v", path: "/" + String(repeating: "x", count: 9000)),
            ]
        let (text, leftOut) = CookieFile.written(cookies + [Self.cookie("ok", "v", expires: -5)])
        #expect(leftOut == cookies.count)
        let file = CookieFile(Array(text.utf8))
        #expect(file.cookies.map(\.name) == ["ok"] && file.wrongLines == 0)
    }
}
