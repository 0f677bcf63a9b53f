import LedgerRows
import Testing

@testable import DunlinDisplay

@Suite struct `Prescan of a document` {
    private static let tables: [(String, String?)] = [
        ("", nil), ("<", nil), ("<meta", nil), ("<meta ", nil), ("plain text", nil),
        ("<meta charset=utf-8>", "UTF-8"), ("<META CHARSET=\"Shift_JIS\">", "Shift_JIS"),
        ("<meta charset='gb2312'>", "GBK"), ("<meta/charset=koi8-r>", "KOI8-R"),
        ("<meta charset = latin1 >", "windows-1252"),
        ("<meta charset=utf-8", nil), ("<meta charset=\"utf-8>", nil), ("<meta charset>", nil),
        ("<meta charset=>", nil),
        ("<metacharset=utf-8>", nil), ("<meta name=x charset=big5 content=y>", "Big5"),
        ("<meta charset=nonsense>", nil), ("<meta charset=nonsense><meta charset=euc-kr>", "EUC-KR"),
        ("<meta charset=\" utf-8 \">", "UTF-8"),
        // UTF-16 cannot have been read as ASCII.
        ("<meta charset=utf-16>", "UTF-8"), ("<meta charset=utf-16be>", "UTF-8"),
        ("<meta charset=x-user-defined>", "windows-1252"), ("<meta charset=iso-2022-kr>", "replacement"),
        // The pragma, in any order, and only with both halves.
        ("<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>", "windows-1251"),
        ("<meta content='text/html;charset=\"euc-jp\"' http-equiv=content-type>", "EUC-JP"),
        ("<meta content='text/html; charset=koi8-u'>", nil),
        ("<meta http-equiv=refresh content='text/html; charset=koi8-u'>", nil),
        ("<meta http-equiv=content-type content='charset charset = big5; x'>", "Big5"),
        ("<meta http-equiv=content-type content='text/html; charset=\"big5'>", nil),
        ("<meta http-equiv=content-type content='text/html; charset='>", nil),
        ("<meta http-equiv=content-type content='charset=big5' charset=utf-8>", "UTF-8"),
        ("<meta content='charset=big5' charset=utf-8>", "UTF-8"),
        // The first of each name counts.
        ("<meta charset=big5 charset=utf-8>", "Big5"),
        // What looks like a declaration and is none.
        ("<!-- <meta charset=big5> --><meta charset=utf-8>", "UTF-8"),
        ("<!--><meta charset=big5>", "Big5"), ("<!---><meta charset=big5>", "Big5"),
        ("<!-- <meta charset=big5>", nil), ("<!-- -- > <meta charset=big5> -->", nil),
        ("<p title='<meta charset=big5>'><meta charset=utf-8>", "UTF-8"),
        ("<p title=\"a>b\" x=<meta charset=big5>", nil), ("<p <meta charset=big5>", nil),
        ("</p title='<meta charset=big5>'><meta charset=utf-8>", "UTF-8"),
        ("<!doctype html '<meta charset=big5>'><meta charset=utf-8>", "UTF-8"),
        ("<?php <meta charset=big5> ?><meta charset=utf-8>", "UTF-8"),
        ("<1 <meta charset=big5>", "Big5"), ("</ <meta charset=big5>", nil),
        ("<title>x</title>\n<meta\ncharset\n=\nutf-8\n>", "UTF-8"),
        // XML comes last.
        ("<?xml version=\"1.0\" encoding=\"EUC-JP\"?><html>", "EUC-JP"), ("<?xml encoding = 'sjis' ?>", "Shift_JIS"),
        ("<?xml encoding=\"EUC-JP\"?><meta charset=utf-8>", "UTF-8"), ("<?xml encoding=\"utf-16\"?>", "UTF-8"),
        ("<?xml encoding=\"EUC-JP\"", nil), ("<?xml encoding=\"EUC JP\"?>", nil), ("<?xml encoding=EUC-JP?>", nil),
        (" <?xml encoding=\"EUC-JP\"?>", nil), ("<?xml ?> encoding=\"EUC-JP\"", nil),
        ("<\0?\0x\0", "UTF-16LE"), ("\0<\0?\0x", "UTF-16BE"),
    ]

    @Test(.rows("UI-52"), arguments: Self.tables.indices)
    func `a prescan finds the declared encoding and nothing that only looks like one`(index: Int) {
        let (text, name) = Self.tables[index]
        #expect(MetaPrescan.encoding(of: Array(text.utf8))?.name == name, "\(text)")
    }

    @Test(arguments: [(1003, "UTF-8"), (1004, "UTF-8"), (1005, nil), (2000, nil)] as [(Int, String?)])
    func `a prescan ends after 1024 bytes`(blanks: Int, name: String?) {
        let text = String(repeating: " ", count: blanks) + "<meta charset=utf-8>"
        #expect(MetaPrescan.encoding(of: Array(text.utf8))?.name == name)
    }

    @Test func `a prescan ends for any bytes, cut anywhere, and never reads beyond them`() {
        for (text, _) in Self.tables {
            let bytes = Array(text.utf8)
            for end in 0...bytes.count { _ = MetaPrescan.encoding(of: bytes[..<end]) }
        }
        let words = [
            "<meta ", "charset", "=", "'", "\"", "<!--", "-->", "<?xml", " encoding", ">", "/", "x", "\0", "é",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0..<12)).map { _ in words.randomElement() ?? "" }.joined()
            _ = MetaPrescan.encoding(of: Array(text.utf8))
        }
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0..<1100)).map { _ in UInt8.random(in: .min ... .max) }
            _ = MetaPrescan.encoding(of: Array("<meta ".utf8) + bytes)
        }
    }
}
