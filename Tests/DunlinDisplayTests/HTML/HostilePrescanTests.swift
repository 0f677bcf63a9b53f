import Dunlin
import Testing

@testable import DunlinDisplay

@Suite struct `A hostile document to scan` {
    static let pieces = [
        "<", "<!", "<!--", "<!-- -", "<!---->", "</", "<?", "<?xml ", "<?xml encoding", "<?xml encoding='", "<meta",
        "<meta ", "<meta charset", "<meta charset=", "<meta charset='", "<meta charset=x ", "<meta a=b ",
        "<meta content=charset", "<meta http-equiv=content-type content='charset charset", "<a ", "<a =", "<a b='",
        "<a b=\"c\" ", "=", "/", "'", "\0", "\u{FFFF}", "<meta \u{301}charset=\u{301}", "charset=", "\r\n",
    ]

    /// However long it is, what lies beyond the first 1,024 bytes is not looked at.
    @Test(arguments: pieces)
    func `a prescan looks at no more than the first 1024 bytes of a hostile document`(piece: String) {
        let start = String(String(repeating: piece, count: MetaPrescan.length / piece.utf8.count + 1))
        let head = Array(start.utf8.prefix(MetaPrescan.length))
        var taken = 0
        let endless = sequence(state: 0) { (index: inout Int) -> UInt8? in
            taken += 1
            defer { index += 1 }
            return index < head.count ? head[index] : 0x3C
        }
        let declared = "<meta charset=big5>"
        #expect(MetaPrescan.encoding(of: head) == MetaPrescan.encoding(of: endless))
        #expect(taken <= MetaPrescan.length + 1)
        #expect(MetaPrescan.encoding(of: head + Array(declared.utf8)) == MetaPrescan.encoding(of: head))
    }

    @Test(arguments: [
        "utf-16", "replacement", "x-user-defined", "iso-2022-jp", "gb18030", "big5", "shift_jis", "koi8-r",
    ])
    func `a hostile document gives a text of bounded length, whatever it declares`(label: String) {
        for piece in pieces + ["\u{1B}$B", "\u{7F}~", "ÿ"] {
            let body = Bytes("<meta charset=\(label)>" + String(repeating: piece, count: 2_000))
            for declared in [nil, label, String(repeating: label, count: 1_000)] {
                #expect(HTMLText(body, declared: declared).text.utf8.count <= 6 * body.count)
            }
        }
    }

    private var pieces: [String] { Self.pieces }
}
