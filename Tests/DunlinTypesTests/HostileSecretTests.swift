import Glibc
import Testing

@testable import DunlinTypes

/// Texts that servers write so that hiding what is secret in them takes long.
@Suite(.serialized, .timeLimit(.minutes(10))) struct `Hiding secrets in hostile text` {
    /// The beginning, what is repeated, and the end.
    private static let texts: [(String, String, String)] = [
        ("", "//", "@"), ("@ ", "//", ""), ("@ ", "//a:b", ""), ("@ ", "//a:", "\n"), ("", "//a:b", "@"),
        ("", "//a:b@", ""), ("@ ", "/\\", ""), ("@ ", "//a?", ""), ("", "http://u:p/w@a.test/?token=a,b ", ""),
        ("", "a ", ""), ("", "token ", ""), ("", "token=\"", ""), ("", "token&", ""), ("", "%74oken=&", ""),
        ("", "%", ""), ("", "\\", ""), ("", "a", "=1"), ("", "auth]", ""), ("", "\"token\":", "1"),
        ("", "<token>", ""), ("", "token\u{301}", "=1"), ("", "\u{301}", "=1"), ("", "<", ">"), ("", "\u{200B}", ""),
        ("", "%3D", ""), ("", "%25", ""), ("%", "25", "3D"), ("", "a%2541", ""), ("", "a%20/", ""),
        ("", "//%25", ""), ("", "//a%3Ab", "%40"), ("", "//%3A1/", ""),
        ("", "; name=\"token.", ""), ("", "=\"\\\"token", ""), ("", "{\"name\":\"token\",", ""), ("", "token[", ""),
        ("", "\"key\":", "1"), ("", "\"key\":\"a\",", ""), ("", "<a>b</a>", ""),
        ("", "token[]", "=1"), ("", "http:", "80/@"), ("", "http:a:", "1?@"), ("", "/\\a:1", "/@"),
    ]

    private static func text(_ index: Int, _ count: Int) -> String {
        let (beginning, middle, end) = texts[index]
        return beginning + String(repeating: middle, count: count / middle.utf8.count) + end
    }

    /// Of this thread alone, so that it does not matter what else the machine does; in nanoseconds.
    private static func time(_ work: () -> Void) -> Int64 {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        let start = now()
        work()
        return now() - start
    }

    /// Four times the text would take sixteen times as long where each byte looks at all others.
    @Test(arguments: texts.indices)
    func `hiding secrets takes time in proportion to the length of the text, whatever is in it`(index: Int) {
        let (short, long) = (Self.text(index, 1 << 14), Self.text(index, 1 << 16))
        for kind in [SecretText.Kind.link, .links] {
            let growth = (0..<3).lazy.map { _ in
                let before = Self.time { _ = SecretText.masked(short, as: kind) }
                let after = Self.time { _ = SecretText.masked(long, as: kind) }
                return Double(after) / Double(max(before, 1))
            }
            // Pages that are new to the process may make one of three slow.
            #expect(growth.contains { $0 < 9 }, "\(Self.texts[index]) as \(kind)")
        }
    }

    /// Bytes of what means something, at random: nothing of it may end the process, and no secret behind it is shown.
    @Test func `whatever text comes before a secret, it is hidden`() {
        var state: UInt64 = 1
        func number(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let words = [
            "<", ">", "/", "{", "}", "[", "]", "\"", "'", ":", "=", ",", ";", " ", "\n", "\\", "&", "%", "#", "@", "-",
            "!",
            "token", "password", "key", "name", "value", "content", "a", "string", "dict", "input", "<![CDATA[", "]]>",
            "<!--", "-->", "</", "/>", "%5B", "//", "name=\"", "\"name\":\"", String(repeating: "token", count: 60),
        ]
        for round in 0..<4000 {
            var text = ""
            for _ in 0..<number(below: 24) { text += words[number(below: words.count)] }
            for kind in [SecretText.Kind.form, .link, .links] {
                let shown = SecretText.masked(text + "\n{\"password\":\"hunter2\"}", as: kind)
                if shown.contains("hunter2") { Issue.record("round \(round) as \(kind): \(text)") }
            }
        }
    }

    @Test func `slashes without an end are passed over, a mebibyte of them`() {
        for index in 0..<8 {
            let text = Self.text(index, 1 << 20)
            let shown = SecretText.withoutUserInfo(text)
            // Stars may take the place of a shorter user.
            #expect(shown.utf8.count <= text.utf8.count + 3)
            #expect(VisibleText.of(text, upTo: .max).utf8.count == text.utf8.count)
        }
    }

    @Test(arguments: [
        ("/cb?next=https%3A%2F%2Fa.test%2F%3Ftoken%3Dabc.d,e%26x%3D1&y=2", "/cb?next=***&y=2"),
        ("/cb?next=%2Fx%3Ftoken%253Dabc#f", "/cb?next=***#f"),
        ("/cb?next=%25252525%252574", "/cb?next=***"),
        ("/cb?next=https%3A%2F%2Fu%3Ap%40a.test", "/cb?next=***"),
        ("/cb?next=https%3A//u%3Ap%40a.test/&b=1", "/cb?next=https%3A//***&b=1"),
        ("/cb?next=https%3A//u%3Ap/w%40a.test/", "/cb?next=https%3A//***"),
        ("/cb?next=https%3A//a.test%3A80/%20", "/cb?next=https%3A//a.test%3A80/%20"),
        ("/go/https%3A%2F%2Fa.test%3Fpassword%3Dx/y?z=1", "/go/***"),
        ("data=%7B%22password%22:%22x%22%7D&a=b", "data=***&a=b"),
        (
            "/cb?next=https%3A%2F%2Fa.test%2Fb%3Fq%3Dcat&q=a%20b%25",
            "/cb?next=https%3A%2F%2Fa.test%2Fb%3Fq%3Dcat&q=a%20b%25"
        ),
        ("%74oken=abc&a=%3D", "%74oken=***&a=%3D"), ("100%", "100%"),
    ])
    func `a value that has a secret encoded in it is not shown`(text: String, shown: String) {
        #expect(SecretText.masked(text, as: .link) == shown)
    }

    @Test(arguments: [
        ("//a//b:c@d", "//a//***@d"), ("//u:p@a //v:w@b", "//***@a //***@b"),
        ("//a/@b //c:d@e/@f", "//a/@b //***@e/@f"), ("//u:p//q@a", "//***@a"),
        ("//a:1//u:p@b", "//a:1//***@b"), ("// //u@a", "// //***@a"),
        ("//", "//"), ("@//", "@//"), ("//a:b\"//c@d", "//a:b\"//***@d"), ("////u@a", "////***@a"),
        ("http:u:p@a", "http:***@a"), ("HTTPS:\\\\u:p@a/b", "HTTPS:\\\\***@a/b"), ("http:/u@a", "http:/***@a"),
        ("http:\\/\\/u@a", "http:\\/\\/***@a"), ("http: u@a, mailto:u@a", "http: u@a, mailto:u@a"),
        ("http:////u@a", "http:////***@a"), ("http://a/b@c", "http://a/b@c"),
    ])
    func `each of several URLs in one word is shown without its user info`(text: String, shown: String) {
        #expect(SecretText.withoutUserInfo(text) == shown)
    }
}
