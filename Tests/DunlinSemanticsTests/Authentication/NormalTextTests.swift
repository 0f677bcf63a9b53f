import DunlinTypes
import Testing

@testable import DunlinSemantics

@Suite struct `Normal forms of texts` {
    private static func scalars(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }

    /// From NormalizationTest.txt and its like: composed, reordered, excluded from composition, singletons, Hangul.
    @Test(arguments: [
        ("abc", "abc"), ("", ""), ("\u{E9}", "\u{E9}"), ("e\u{301}", "\u{E9}"), ("E\u{301}", "\u{C9}"),
        ("q\u{307}\u{323}", "q\u{323}\u{307}"), ("\u{1E0B}\u{323}", "\u{1E0D}\u{307}"), ("\u{212B}", "\u{C5}"),
        ("\u{2126}", "\u{3A9}"), ("\u{958}", "\u{915}\u{93C}"), ("\u{FB1D}", "\u{5D9}\u{5B4}"),
        ("\u{F900}", "\u{8C48}"),
        ("\u{2F800}", "\u{4E3D}"), ("\u{1D15E}", "\u{1D157}\u{1D165}"), ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"),
        ("\u{344}", "\u{308}\u{301}"), ("\u{3B9}\u{344}", "\u{390}"), ("\u{1FEF}", "`"), ("\u{FB01}", "\u{FB01}"),
    ])
    func `a text has one form, and the same one again`(text: String, normal: String) {
        #expect(Self.scalars(NormalText.of(text)) == Self.scalars(normal))
        #expect(Self.scalars(NormalText.of(normal)) == Self.scalars(normal))
    }

    /// The standard library compares by NFC, and has no public function for it. Where NFC keeps everything is left out.
    @Test(arguments: [0..<0x3200, 0xF900..<0xFB50, 0x1D100..<0x1D200, 0x2F800..<0x2FA20] as [Range<UInt32>])
    func `every character has the form that the standard library compares by`(range: Range<UInt32>) {
        var wrong: [UInt32] = []
        for value in range {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = String(scalar)
            let normal = NormalText.of(text)
            if normal != text || NormalText.of(normal).unicodeScalars.elementsEqual(normal.unicodeScalars) == false {
                wrong.append(value)
            }
        }
        #expect(wrong.isEmpty)
    }

    @Test(arguments: ["Basic realm=r", "Basic realm=r, charset=\"UTF-8\""])
    func `Basic has a composed password where the server says UTF-8`(text: String) throws {
        let challenge = try BasicChallenge(try #require(Challenge.all(in: [Bytes(text)]).first))
        let answer = try challenge.answer(user: "u", password: "e\u{301}")
        #expect(challenge.isUTF8 == text.contains("UTF-8"))
        #expect(try answer == Authorization.basic(user: "u", password: challenge.isUTF8 ? "\u{E9}" : "e\u{301}"))
        #expect(BasicChallenge.isAnswer(answer, user: "u", password: "e\u{301}"))
        #expect(!BasicChallenge.isAnswer(answer, user: "u", password: "e"))
    }

    @Test(arguments: ["", ", charset=UTF-8", ", charset=\"utf-8\", userhash=true"])
    func `Digest has a composed user and password where the server says UTF-8`(rest: String) throws {
        let challenge = try digestChallenge("realm=r, nonce=n, qop=auth\(rest)")
        let answers = try [("\u{E9}", "\u{E9}"), ("e\u{301}", "e\u{301}")].map { user, password in
            var machine = try DigestMachine(user, password)
            #expect(machine.challenged(challenge) == .answer(.challenged))
            return try machine.get().value
        }
        #expect((answers[0] == answers[1]) == challenge.isUTF8)
    }
}
