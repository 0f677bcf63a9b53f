import Dunlin
import LedgerRows
import Testing

@testable import DunlinContent

@Suite struct `Text` {
    static let texts: [(Bytes, String?, String?)] = [
        ("ü", nil, "ü"), ("ü", "text/plain", "ü"), ("ü", "text/plain; charset=UTF-8", "ü"),
        ("ü", "text/plain;x=y; Charset=\"utf-8\"", "ü"), ([0xFC], "text/plain; charset=ISO-8859-1", "ü"),
        ([0xFC], "text/plain; charset=latin1", "ü"), ([0x80, 0x93, 0x81], "a/b;charset=windows-1252", "€“\u{81}"),
        ([0xFC], nil, nil), ([0xFC], "text/plain; charset=utf-8", nil), ([0xFC], "text/plain; charset=ascii", nil),
        ("", nil, ""), ("", "text/plain; charset=utf-16", ""),
        ([0x83, 0x65, 0x83, 0x58], "text/plain; charset=shift_jis", "テス"),
        ([0xC3, 0xA4, 0xC3], "text/plain; charset=EUC-KR", nil), ([0xD0, 0xCF], "text/x; charset=koi8-r", "по"),
        ([0xB0, 0xA1], "text/x; charset=gb18030", "啊"), ([0xA4], "text/x; charset=iso-8859-15", "€"),
        ([0xD8, 0x00], "text/plain; charset=utf-16be", nil), ([0x00], "text/plain; charset=utf-16be", nil),
        ([0xFF, 0xFE, 0x41, 0x00], nil, "A"), ([0xFE, 0xFF, 0x00, 0x41], "text/plain", "A"),
        ("x", "text/plain; charset=x-nothing", nil), ("x", "text/plain; charset=utf-8//ignore", nil),
        ("x", "text/plain; charset=", nil), ("a\u{FEFF}b", nil, "a\u{FEFF}b"),
    ]

    @Test(.rows("OP-8"), arguments: texts)
    func `text is read in its declared charset, and refused if it is not valid in it`(
        body: Bytes, type: String?, expected: String?
    ) throws {
        let response = Replies.made(body, type: type)
        if let expected {
            #expect(try StringSerializer().serialize(response) == expected)
        } else {
            let failure = #expect(throws: NetworkError.self) { try StringSerializer().serialize(response) }
            #expect(failure?.code == .unreadableContent)
        }
    }

    @Test func `text in any form of Unicode is read without its byte order mark`() throws {
        for (bytes, name) in CharsetSamples.unicode("aä€😀") {
            let response = Replies.made(bytes, type: "text/plain; charset=\(name)")
            #expect(try StringSerializer().serialize(response) == "aä€😀", "\(name)")
        }
    }

    @Test func `text without a charset is read in the charset that the caller assumes`() throws {
        #expect(try StringSerializer(assuming: "latin1").serialize(Replies.made([0xFC])) == "ü")
        let declared = Replies.made("ü", type: "text/plain; charset=utf-8")
        #expect(try StringSerializer(assuming: "latin1").serialize(declared) == "ü")
    }

    @Test func `text of any length is decoded whole by the system's charsets`() throws {
        let count = 100_003
        let text = try StringSerializer().serialize(
            Replies.made(Bytes((0..<count).flatMap { _ in [0x83, 0x65] as [UInt8] }), type: "a/b; charset=shift_jis"))
        #expect(text.unicodeScalars.count == count)
        #expect(text.unicodeScalars.allSatisfy { $0 == "テ" })
    }

    @Test func `an error tells an unknown charset from invalid text`() {
        let unknown = Replies.failure {
            _ = try StringSerializer().serialize(Replies.made("x", type: "a/b;charset=zz"))
        }
        #expect(unknown?.reason == "the charset zz is not supported")
        let wrong = Replies.failure { _ = try StringSerializer().serialize(Replies.made([0xFC])) }
        #expect(wrong?.reason == "the text is not valid utf-8")
    }
}
