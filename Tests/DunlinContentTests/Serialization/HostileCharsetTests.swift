import Dunlin
import Testing

@testable import DunlinContent

/// A server names the charset, and sends what it likes in it.
@Suite struct `A hostile charset` {
    /// Among them all that shift, hold back and name a machine's own forms.
    static let charsets = [
        "utf-8", "utf-16", "utf-32", "latin1", "utf-7", "utf-7-imap", "ucs-2", "ucs-4", "ucs4", "unicode", "internal",
        "wchar_t", "iso-2022-jp", "iso-2022-jp-3", "iso-2022-kr", "iso-2022-cn", "iso-2022-cn-ext", "hz", "gbk",
        "gb18030", "big5", "big5-hkscs", "euc-jp", "euc-kr", "euc-tw", "johab", "shift_jis", "shift_jisx0213",
        "ibm1364", "ibm1371", "ibm1388", "ibm1390", "ibm1399", "ibm930", "ibm933", "ibm935", "ibm937", "ibm939",
        "tcvn", "tscii", "viscii", "cp1258", "armscii-8", "t.61", "iso_6937", "ansi_x3.110", "ebcdic-us", "koi8-t",
    ]

    private static func samples(_ count: Int) -> [Bytes] {
        let shifts = Array("\u{1B}$(ABCDEFGHIJN)O.\u{E}\u{F}~{}+-".utf8)
        var state: UInt64 = 7
        func random() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        let makers: [(Int) -> UInt8] = [
            { _ in random() }, { _ in random() | 0x80 }, { _ in shifts[Int(random()) % shifts.count] }, { _ in 0 },
            { _ in 0xFF }, { UInt8($0 % 2) + 0xE }, { _ in 0x1B }, { $0 % 2 == 0 ? 0xD8 : 0 },
        ]
        return makers.map { make in Bytes((0..<count).map { make($0) }) }
    }

    @Test(arguments: charsets)
    func `any bytes in a hostile charset give a text of bounded length, or an error`(name: String) {
        for bytes in Self.samples(4_099) {
            let charset = Charset(name)
            if let text = charset.text(bytes) { #expect(text.utf8.count <= 6 * bytes.count, "\(name)") }
            // Three bytes mark each that cannot be read.
            #expect(charset.repairedText(bytes).text.utf8.count <= 6 * bytes.count + 3, "\(name)")
            let response = Replies.made(bytes, type: "text/plain; charset=\"\(name)\"")
            let failure = Replies.failure { _ = try StringSerializer().serialize(response) }
            #expect(failure == nil || failure?.code == .unreadableContent)
        }
    }

    @Test(
        arguments: [
            "", ".", "..", "../x", "/etc/passwd", "utf-8//translit", "utf-8,", "a b", "\0", "utf-8\0", "ä", "%n%s%x",
            String(repeating: "a", count: 41), String(repeating: "9", count: 100_000), "utf-8\u{301}", "iso-8859-1 ",
        ])
    func `an invalid name of a charset is not known and decodes nothing`(name: String) {
        let charset = Charset(name)
        #expect(!charset.isKnown)
        #expect(charset.text("x") == nil)
        #expect(charset.repairedText("x").text == "x")
    }
}
