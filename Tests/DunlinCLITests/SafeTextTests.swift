import Dunlin
import Testing

@testable import DunlinCLI

/// What would control a terminal is shown as text.
@Suite struct SafeTextTests {
    @Test(
        arguments: [
            ("plain\ttext\n", "plain\ttext\n"), ("", ""),
            ("Zoë, 日本語, 👨‍👩‍👧, नमस्ते, \u{E0B0}", "Zoë, 日本語, 👨‍👩‍👧, नमस्ते, \u{E0B0}"),
            ("a\u{1B}[2Jb\u{7}\u{0}\u{8}", #"a\u001b[2Jb\u0007\u0000\u0008"#), ("\u{7F}", #"\u007f"#),
            ("\u{80}\u{85}\u{9B}31m\u{9F}\u{A0}", "\\u0080\\u0085\\u009b31m\\u009f\u{A0}"),
            ("\u{61C}\u{200E}\u{200F}\u{202A}\u{202E}\u{2066}\u{2069}", #"\u061c\u200e\u200f\u202a\u202e\u2066\u2069"#),
            ("\u{2028}\u{2029}\u{E0041}", #"\u2028\u2029\udb40\udc41"#),
            ("one\r\ntwo\r\n", "one\ntwo\n"), ("over\rwritten\r", #"over\u000dwritten\u000d"#),
            ("\r\r\n", "\\u000d\n"), ("\u{FEFF}a\u{FEFF}", #"a\ufeff"#),
        ] as [(String, String)])
    func `a text is shown without effects`(text: String, expected: String) {
        Self.expect(Array(text.utf8), expected)
    }

    @Test(
        arguments: [
            ([0x9B, 0x32, 0x4A], #"\x9b2J"#), ([0xFF, 0xFE], #"\xff\xfe"#), ([0xC3], #"\xc3"#),
            ([0xC3, 0x41], #"\xc3A"#), ([0xC3, 0x1B], #"\xc3\u001b"#), ([0xC3, 0xC3, 0xA9], #"\xc3é"#),
            ([0xE2, 0x80], #"\xe2\x80"#), ([0xF0, 0x9F, 0x91, 0x0A], "\\xf0\\x9f\\x91\n"),
            // Long forms, halves of a pair, and what is beyond the last scalar.
            ([0xC0, 0x9B], #"\xc0\x9b"#), ([0xC1, 0x9B], #"\xc1\x9b"#), ([0xE0, 0x82, 0x9B], #"\xe0\x82\x9b"#),
            ([0xED, 0xA0, 0x80], #"\xed\xa0\x80"#), ([0xF4, 0x90, 0x80, 0x80], #"\xf4\x90\x80\x80"#),
            ([0xF0, 0x80, 0x82, 0x9B], #"\xf0\x80\x82\x9b"#), ([0xF5, 0x80], #"\xf5\x80"#),
        ] as [([UInt8], String)])
    func `bytes that are no UTF-8 are shown as numbers`(bytes: [UInt8], expected: String) {
        Self.expect(bytes, expected)
    }

    @Test func `no scalar with an effect remains, and every other stays`() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let category = scalar.properties.generalCategory
            let isControl = category == .control && scalar != "\n" && scalar != "\t"
            let isDirection = scalar.properties.isBidiControl || category == .lineSeparator
            #expect(!(isControl || isDirection) || VisibleText.hasEffect(scalar), "\(value)")
            if [.uppercaseLetter, .decimalNumber, .nonspacingMark].contains(category), value < 0xE0000 {
                #expect(!VisibleText.hasEffect(scalar), "\(value)")
            }
        }
    }

    /// Whole, byte by byte, and cut at each byte.
    private static func expect(_ bytes: [UInt8], _ expected: String) {
        for cut in 0...bytes.count {
            var text = SafeText()
            let shown = text.take(bytes[..<cut]) + text.take(bytes[cut...]) + text.end()
            #expect(String(decoding: shown, as: UTF8.self) == expected)
        }
        var text = SafeText()
        let shown = bytes.flatMap { text.take([$0]) } + text.end()
        #expect(String(decoding: shown, as: UTF8.self) == expected)
    }
}
