import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `A content disposition` {
    static let values: [(Bytes, String, String?)] = [
        ("attachment", "attachment", nil), ("INLINE", "inline", nil), (" attachment ; x", "attachment", nil),
        ("attachment; filename=example.html", "attachment", "example.html"),
        (#"INLINE; FILENAME= "an example.html""#, "inline", "an example.html"),
        (#"attachment; filename="a\"b\\c""#, "attachment", #"a"b\c"#),
        (#"attachment; filename="a;b.txt"; x=y"#, "attachment", "a;b.txt"),
        (#"attachment; x="filename=no"; filename=yes"#, "attachment", "yes"),
        ("attachment; filename=a b.txt; x=y", "attachment", "a b.txt"),
        ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "attachment", "€ rates"),
        (#"attachment; filename="EURO rates"; filename*=utf-8''%e2%82%ac%20rates"#, "attachment", "€ rates"),
        (#"attachment; filename*=utf-8''%e2%82%ac; filename="EURO""#, "attachment", "€"),
        ("attachment; filename*=iso-8859-1'en'%A3%20rates", "attachment", "£ rates"),
        (#"attachment; filename*="UTF-8''a%20b""#, "attachment", "a b"),
        (#"attachment; filename*=UTF-8''%ff; filename=b"#, "attachment", "b"),
        ("attachment; filename*=UTF-8''%4; filename=b", "attachment", "b"),
        ("attachment; filename*=UTF-8'x; filename=b", "attachment", "b"),
        ("attachment; filename*=utf-16''x; filename=b", "attachment", "b"),
        ("attachment; filename*=''x", "attachment", nil),
        ("attachment; filename=a; filename=b", "attachment", "a"),
        ("attachment; filename=a%20b", "attachment", "a%20b"),
        ("attachment; filename==?utf-8?Q?a?=", "attachment", "=?utf-8?Q?a?="),
        (#"attachment; filename="a"#, "attachment", #""a"#), (#"attachment; filename="a\"#, "attachment", #""a\"#),
        ("attachment; filename", "attachment", nil), ("attachment; filename=", "attachment", ""),
        ("attachment;;; ; filename = a", "attachment", "a"), ("attachment; =x; filename=a", "attachment", "a"),
        (#"attachment; filename="a"b; x"#, "attachment", "a"), ("attachment, filename=a", "attachment", nil),
        ("attachment; filename=\"caf\u{E9}\"", "attachment", "café"),
        (Bytes(Array("attachment; filename=\"caf".utf8) + [0xE9, 0x22]), "attachment", "café"),
    ]

    @Test(arguments: values)
    func `a content disposition is read as browsers read it`(value: Bytes, kind: String, filename: String?) throws {
        let disposition = try #require(ContentDisposition(value))
        #expect(disposition.kind == kind)
        #expect(disposition.filename == filename)
    }

    @Test(arguments: ["", "   ", "; filename=a", "\"attachment\"; filename=a", "=a"])
    func `a content disposition without a kind is none`(value: String) {
        #expect(ContentDisposition(Bytes(value)) == nil)
    }

    @Test func `the first content disposition that names a file counts`() {
        #expect(ContentDisposition([:] as Fields) == nil)
        let fields: Fields = [
            "Content-Disposition": ";", "content-disposition": "inline",
            "CONTENT-DISPOSITION": "attachment; filename=a",
        ]
        #expect(ContentDisposition(fields)?.filename == "a")
    }
}
