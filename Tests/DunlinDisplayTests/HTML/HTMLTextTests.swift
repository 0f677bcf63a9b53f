import Dunlin
import LedgerRows
import Testing

@testable import DunlinDisplay

@Suite struct `Text of a document` {
    private struct Row: Sendable {
        var bytes: [UInt8]
        var declared: String?
        var text: String
        var encoding: String
        var isLossy = false

        init(_ bytes: [UInt8], _ declared: String?, _ text: String, _ encoding: String, lossy: Bool = false) {
            (self.bytes, self.declared, self.text, self.encoding) = (bytes, declared, text, encoding)
            isLossy = lossy
        }
    }

    private static func meta(_ charset: String, _ bytes: [UInt8]) -> [UInt8] {
        Array("<meta charset=\(charset)>".utf8) + bytes
    }

    private static let rows: [Row] = [
        Row([], nil, "", "UTF-8"),
        Row(Array("grün".utf8), nil, "grün", "UTF-8"),
        Row(Array("grün".utf8), "UTF-8", "grün", "UTF-8"),
        Row([0x67, 0xFC], "utf-8", "g\u{FFFD}", "UTF-8", lossy: true),
        Row([0x67, 0xFC], "iso-8859-1", "gü", "windows-1252"),
        Row([0x80], "us-ascii", "€", "windows-1252"),
        Row([0x80], "WINDOWS-1252", "€", "windows-1252"),
        Row([0xC4, 0xE3, 0xBA, 0xC3], "gb2312", "你好", "GBK"),
        Row([0xC4, 0xE3, 0xBA, 0xC3], "GBK", "你好", "GBK"),
        Row([0x81, 0x30, 0x81, 0x30], "gb18030", "\u{80}", "gb18030"),
        Row([0x93, 0xFA, 0x96, 0x7B], "Shift_JIS", "日本", "Shift_JIS"),
        // What Windows adds.
        Row([0x87, 0x40], "sjis", "①", "Shift_JIS"),
        Row([0xC6, 0xFC, 0xCB, 0xDC], "euc-jp", "日本", "EUC-JP"),
        Row([0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "iso-2022-jp", "日", "ISO-2022-JP"),
        Row([0xC7, 0xD1], "euc-kr", "한", "EUC-KR"),
        Row([0xA7, 0x41], "big5", "你", "Big5"),
        Row([0xCF, 0xF0], "windows-1251", "Пр", "windows-1251"),
        Row([0xA1], "tis-620", "ก", "windows-874"),
        Row([0x60, 0x4F, 0x7D, 0x59], "utf-16", "你好", "UTF-16LE"),
        Row([0x4F, 0x60], "utf-16be", "你", "UTF-16BE"),
        Row([0x60, 0x4F, 0x7D], "utf-16", "你\u{FFFD}", "UTF-16LE", lossy: true),
        Row([0x00, 0xD8, 0x41, 0x00], "utf-16", "\u{FFFD}A", "UTF-16LE", lossy: true),
        // A mark decides, whatever is declared, and is no text.
        Row([0xEF, 0xBB, 0xBF, 0xC3, 0xBC], "iso-8859-1", "ü", "UTF-8"),
        Row([0xFF, 0xFE, 0x60, 0x4F], nil, "你", "UTF-16LE"),
        Row([0xFE, 0xFF, 0x4F, 0x60], "utf-8", "你", "UTF-16BE"),
        // The response counts before the document, if it says something that is known.
        Row(meta("big5", [0xFC]), "iso-8859-1", "<meta charset=big5>ü", "windows-1252"),
        Row(meta("iso-8859-1", [0xFC]), "x-nobody-knows", "<meta charset=iso-8859-1>ü", "windows-1252"),
        Row(meta("iso-8859-1", [0xFC]), nil, "<meta charset=iso-8859-1>ü", "windows-1252"),
        // Labels that nobody knows, or that no page may have, are UTF-8.
        Row([0x67, 0xFC], "x-nobody-knows", "g\u{FFFD}", "UTF-8", lossy: true),
        Row(Array("+ADw-".utf8), "utf-7", "+ADw-", "UTF-8"),
        Row([0x41], "utf-8//IGNORE", "A", "UTF-8"),
        Row([0x41], "", "A", "UTF-8"),
        Row(Array("~{<script>".utf8), "hz-gb-2312", "\u{FFFD}", "replacement", lossy: true),
        Row([], "iso-2022-kr", "", "replacement"),
        Row([0x41, 0x80, 0xFF], "x-user-defined", "A\u{F780}\u{F7FF}", "x-user-defined"),
        // What is broken swallows nothing of what follows.
        Row([0x93, 0x3C, 0x62, 0x3E], "shift_jis", "\u{FFFD}<b>", "Shift_JIS", lossy: true),
        Row([0xC4, 0xE3, 0xFF, 0x3C], "gbk", "你\u{FFFD}<", "GBK", lossy: true),
        Row([0xC4, 0xE3, 0xBA], "gbk", "你\u{FFFD}", "GBK", lossy: true),
    ]

    @Test(.rows("UI-52", "UI-54"), arguments: Self.rows.indices)
    func `a document is decoded by its mark, its response or its own declaration`(index: Int) {
        let row = Self.rows[index]
        let text = HTMLText(Bytes(row.bytes), declared: row.declared)
        #expect(text.text == row.text)
        #expect(text.encoding == row.encoding)
        #expect(text.isLossy == row.isLossy)
    }

    @Test(
        .rows("UI-54"),
        arguments: [
            "utf-8", "utf-16", "utf-16be", "gb18030", "shift_jis", "euc-jp", "euc-kr", "big5", "iso-2022-jp",
            "windows-1258", "koi8-u", "x-mac-cyrillic", "iso-8859-8-i", "windows-874", "ibm866", "macintosh",
            "replacement",
        ])
    func `any bytes in any encoding give a text`(label: String) {
        #expect(HTMLEncoding(label: label) != nil)
        for _ in 0..<200 {
            let bytes = (0..<Int.random(in: 0..<80)).map { _ in UInt8.random(in: .min ... .max) }
            let text = HTMLText(Bytes(bytes), declared: label)
            #expect(!text.isLossy || text.text.unicodeScalars.contains("\u{FFFD}"))
        }
        let long = HTMLText(Bytes([UInt8](repeating: 0xFF, count: 100_000)), declared: label)
        #expect(!long.text.isEmpty)
    }

    @Test(.rows("UI-52")) func `the system can decode every encoding that has a label`() {
        for label in [
            "ibm866", "l2", "l3", "l4", "cyrillic", "arabic", "greek", "hebrew", "logical", "l6", "iso-8859-13",
            "iso-8859-14", "l9", "iso-8859-16", "koi8", "koi8-u", "mac", "tis-620", "cp1250", "cp1251", "cp1253", "l5",
            "cp1255", "cp1256", "cp1257", "cp1258", "x-mac-cyrillic", "gbk", "gb18030", "big5", "euc-jp", "iso-2022-jp",
            "sjis", "euc-kr",
        ] {
            let text = HTMLText(Bytes("plain"), declared: label)
            #expect(text.text == "plain" && text.encoding != "UTF-8" && !text.isLossy, "\(label)")
        }
    }
}
