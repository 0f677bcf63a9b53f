import DunlinSemantics
import DunlinTesting
import FoundationEssentials
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10))) struct `International host names` {
    @Test(
        .rows("LX-2"), .rules("6265bis-5.1.2-1", "6265bis-6.3-1"),
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("XN--BCHER-KVA.Example", "xn--bcher-kva.example"), ("faß.de", "xn--fa-hia.de"),
            ("ẞ.example", "xn--zca.example"), ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
            ("日本語。ＪＰ", "xn--wgv71a119e.jp"), ("日本語｡jp", "xn--wgv71a119e.jp"), ("日本語．jp", "xn--wgv71a119e.jp"),
            ("παράδειγμα.δοκιμή", "xn--hxajbheg2az3al.xn--jxalpdlp"), ("مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv"),
            ("उदाहरण.परीक्षा", "xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g"), ("\u{1112}\u{1161}\u{11AB}.kr", "xn--6q8b.kr"),
            ("한.kr", "xn--6q8b.kr"), ("بی\u{200C}بی.example", "xn--ngba50cb2343a.example"),
            ("क\u{94D}\u{200D}ष.example", "xn--11b2ezcw70k.example"), ("ﬁ.example", "fi.example"),
            ("①.example", "1.example"), ("a\u{AD}b.example", "ab.example"), ("☃.net", "xn--n3h.net"),
            ("🦆.example", "xn--5s9h.example"), ("münchen.de.", "xn--mnchen-3ya.de."), ("Example.COM", "example.com"),
            ("r3---a.example", "r3---a.example"), ("-a-.example", "-a-.example"), ("１２７.0.0.1", "127.0.0.1"),
        ])
    func `an international host name has an ASCII form`(host: String, ascii: String) throws {
        #expect(try IDNA.toASCII(host) == ascii)
    }

    private static let refused: [(String, String, IDNAError.Problem)] = [
        ("a_b.example", "a_b", .disallowed("_")),
        ("ü_b.example", "ü_b", .disallowed("_")),
        ("a b.example", "a b", .disallowed(" ")),
        ("x.a\u{0}", "a\u{0}", .disallowed("\0")),
        ("ü.a%b", "a%b", .disallowed("%")),
        ("www.a\u{E000}b.de", "a\u{E000}b", .disallowed("\u{E000}")),
        ("ü.\u{378}。x", "\u{378}", .disallowed("\u{378}")),
        ("\u{FFFD}", "\u{FFFD}", .disallowed("\u{FFFD}")),
        ("℀.example", "a/c", .disallowed("/")),
        ("x.\u{301}a", "\u{301}a", .leadingMark("\u{301}")),
        ("ü.xn--", "xn--", .invalidPunycode),
        ("xn--a.example", "xn--a", .disallowed("\u{80}")),
        ("xn--abc-.example", "xn--abc-", .invalidPunycode),
        ("xn--99999.example", "xn--99999", .invalidPunycode),
        ("xn--ü.example", "xn--ü", .invalidPunycode),
        ("xn--a-yda.example", "xn--a-yda", .disallowed("À")),
        ("a\u{200C}b", "a\u{200C}b", .misplacedJoiner("\u{200C}")),
        ("a\u{200D}b", "a\u{200D}b", .misplacedJoiner("\u{200D}")),
        ("اa.example", "اa", .mixedDirections),
        ("1a.א", "1a", .mixedDirections),
        ("", "", .emptyLabel),
        (".", "", .emptyLabel),
        ("ü..de", "", .emptyLabel),
        ("\u{AD}", "", .emptyLabel),
        (String(repeating: "ü", count: 60), String(repeating: "ü", count: 60), .labelTooLong),
        (String(repeating: "a", count: 64), String(repeating: "a", count: 64), .labelTooLong),
        (String(repeating: "ü.", count: 40), String(repeating: "ü.", count: 40), .nameTooLong),
        (String(repeating: "ü", count: 2000), String(repeating: "ü", count: 2000), .nameTooLong),
    ]

    @Test(arguments: refused) func `an international host name is refused by label and code point`(
        host: String, label: String, problem: IDNAError.Problem
    ) {
        let error = #expect(throws: IDNAError.self) { try IDNA.toASCII(host) }
        #expect(error == IDNAError(problem: problem, label: label))
    }

    // The long ones let go of their thread now and then: a test that waits for its turn has a limit.

    @Test func `international host names conform to UTS 46`() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Corpus/idna/conformance.txt")
        var count = 0
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            // By scalars: a semicolon with a combining mark behind it is another character.
            let parts = line.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false)
            try #require(parts.count == 2)
            #expect((try? IDNA.toASCII(unescaped(parts[0]))) ?? "!" == String(parts[1]), "\(line)")
            count += 1
            if count.isMultiple(of: 100) { await Task.yield() }
        }
        #expect(count == 6105)
    }

    /// Scalars from where the rules are: ASCII, marks, joiners, right-to-left scripts, Hangul, and anywhere.
    @Test func `an international host name ends in a name or an error, whatever the text`() async throws {
        var random = SeededGenerator(seed: 46)
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x2D...0x2E, 0x61...0x7A, 0xC0...0x24F, 0x300...0x36F, 0x5D0...0x6FF, 0x900...0x97F,
            0x1100...0x11FF, 0x200B...0x200F, 0x3000...0x30FF, 0xAC00...0xD7A3, 0xF900...0xFFFF, 0...0x10FFFF,
        ]
        var named = 0
        for round in 0..<50_000 {
            if round.isMultiple(of: 200) { await Task.yield() }
            var text = Bool.random(using: &random) ? "" : "xn--"
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                let range = ranges[Int.random(in: 0..<ranges.count, using: &random)]
                guard let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) else { continue }
                text.unicodeScalars.append(scalar)
            }
            _ = try? WebAddress("http://\(text)/\(text)").resolving(text)
            guard let ascii = try? IDNA.toASCII(text) else { continue }
            named += 1
            #expect(ascii.utf8.allSatisfy { $0 < 0x80 })
            #expect(try IDNA.toASCII(ascii) == ascii, "\(text.unicodeScalars.map(\.value))")
        }
        #expect(named > 1000)
    }

    @Test func `a web address is parsed or refused with an error, whatever the bytes`() async {
        var random = SeededGenerator(seed: 3986)
        let alphabet = Array("http://s:@[]%25.0129afx/?#\\ \u{FF}é".utf8) + [0, 0xFF, 0xC3]
        for round in 0..<20_000 {
            if round.isMultiple(of: 200) { await Task.yield() }
            let count = Int.random(in: 0...16, using: &random)
            let bytes = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }
            let text = String(decoding: bytes, as: UTF8.self)
            for candidate in [text, "http://" + text, "http://a/" + text] {
                guard let address = try? WebAddress(candidate) else { continue }
                #expect((try? WebAddress(address.description))?.target == address.target)
                _ = try? address.resolving(text)
            }
        }
    }

    /// Undoes `\u{…}`.
    private func unescaped(_ text: Substring.UnicodeScalarView) -> String {
        var result = String.UnicodeScalarView()
        var rest = text
        while let backslash = rest.firstIndex(of: "\\"), let end = rest[backslash...].firstIndex(of: "}") {
            let digits = String(rest[backslash..<end].dropFirst(3))
            result += rest[..<backslash]
            result += UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init).map { [$0] } ?? []
            rest = rest[rest.index(after: end)...]
        }
        return String(result + rest)
    }
}
