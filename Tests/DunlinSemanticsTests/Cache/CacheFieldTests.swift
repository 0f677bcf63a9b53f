import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Fields that a cache reads` {
    @Test(
        .rules("9110-14.1-1", "9110-14.1-2"),
        arguments: [
            (["bytes=0-1"], .from(0, through: 1)), (["bytes=1-"], .from(1, through: nil)), (["bytes=-5"], .last(5)),
            (["BYTES=0-0"], .from(0, through: 0)), (["bytes= 0-1 "], .from(0, through: 1)), (["bytes=-0"], .last(0)),
            (["bytes=0-1", "bytes=0-1"], .from(0, through: 1)), (["bytes=0-1", "bytes=0-2"], nil), ([], nil),
            (["bytes"], nil), (["bytes="], nil), (["bytes=-"], nil), (["bytes=1"], nil), (["bytes=2-1"], nil),
            (["bytes=0-1,3-4"], nil), (["bytes=0-1,"], nil), (["bytes=--1"], nil), (["bytes=+1-2"], nil),
            (["bytes=0 -1"], nil), (["items=0-1"], nil), (["bytes=99999999999999999999-"], nil),
            (["bytes=0-1;x"], nil),
        ] as [([String], RangeField?)])
    func `a Range is one range of bytes, or it is for the origin`(values: [String], expected: RangeField?) {
        var fields = Fields()
        for value in values { fields.append(name: "Range", value: value) }
        #expect(RangeField(fields) == expected)
    }

    @Test(
        .rules("9110-14.1-3"),
        arguments: [
            (.from(0, through: 1), 10, 0..<2), (.from(0, through: nil), 10, 0..<10),
            (.from(9, through: 99), 10, 9..<10),
            (.from(10, through: nil), 10, nil), (.from(0, through: nil), 0, nil), (.last(3), 10, 7..<10),
            (.last(30), 10, 0..<10), (.last(0), 10, nil), (.last(1), 0, nil),
            (.from(0, through: .max), .max, 0..<Int.max), (.last(.max), .max, 0..<Int.max),
        ] as [(RangeField, Int, Range<Int>?)])
    func `a range is cut to what is there`(field: RangeField, length: Int, expected: Range<Int>?) {
        #expect(field.range(of: length) == expected)
    }

    private static func tags(_ texts: String...) -> EntityTag.List { .tags(texts.compactMap { EntityTag($0) }) }

    @Test(
        arguments: [
            ([], .absent), (["*"], .any), ([#""a""#], tags(#""a""#)), ([#""a", W/"b""#], tags(#""a""#, #"W/"b""#)),
            ([#""a""#, #""b""#], tags(#""a""#, #""b""#)), ([#","a",,"b","#], tags(#""a""#, #""b""#)),
            ([#""a,b""#], tags(#""a,b""#)), ([#""""#], tags(#""""#)), ([""], .unreadable), ([","], .unreadable),
            (["a"], .unreadable), ([#"w/"a""#], .unreadable), ([#""a"#], .unreadable), ([#""a"b"#], .unreadable),
            ([#""a" "b""#], .unreadable), (["*", #""a""#], .unreadable), ([#"*, "a""#], .unreadable),
            ([#"WW/"a""#], .unreadable), ([#"/"a""#], .unreadable), ([#""a b""#], .unreadable),
            ([#""\"""#], .unreadable),
        ] as [([String], EntityTag.List)])
    func `If-None-Match is a list of tags, or it is for the origin`(values: [String], expected: EntityTag.List) {
        #expect(EntityTag.List(values.map { Bytes($0) }) == expected)
    }

    @Test(
        .rules("9110-8.8.3-3", "9110-13.1.2-1"),
        arguments: [
            (#""a""#, #""a""#, true), (#"W/"a""#, #""a""#, true), (#"W/"a""#, #"W/"a""#, true),
            (#""a""#, #""b""#, false),
            (#"W/"a""#, #"W/"b""#, false), (#""W/""#, #"W/"""#, false),
        ])
    func `a weak comparison ignores the W of an entity tag`(left: String, right: String, areEqual: Bool) throws {
        let (left, right) = (try #require(EntityTag(left)), try #require(EntityTag(right)))
        #expect(left.isWeaklyEqual(to: right) == areEqual)
        #expect(right.isWeaklyEqual(to: left) == areEqual)
    }

    @Test(
        .rules("9111-4.2-5"),
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("SUN, 06 nOV 1994 08:49:37 gmt", 784_111_777),
            ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("monday, 06-nov-94 08:49:37 gmt", 784_111_777),
            ("mon nov  6 08:49:37 1994", 784_111_777), ("Son, 06 Nov 1994 08:49:37 GMT", nil),
            ("Sunday, 06 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:49:37 UTC", nil),
            ("Sun, 31 Feb 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("", nil), ("0", nil),
            ("\u{FC}un, 06 Nov 1994 08:49:37 GMT", nil),
        ] as [(String, Int64?)])
    func `a date that only says how long something keeps is read in any case, on any weekday`(
        text: String, seconds: Int64?
    ) {
        #expect(HTTPDate(forgiving: Bytes(text))?.seconds == seconds)
    }

    @Test(
        .rules("9110-5.6.1-2"),
        arguments: [
            ([], .names([])), (["Foo"], .names(["foo"])), (["Foo, BAR", "foo"], .names(["foo", "bar"])),
            ([",", ""], .names([])), (["*"], .everything), (["a", "b, *"], .everything), (["a b"], .everything),
            (["a;b"], .everything), ([(0..<101).map { "x\($0)" }.joined(separator: ",")], .everything),
            ([(0..<9999).map { "x\($0 % 2)" }.joined(separator: ",")], .names(["x0", "x1"])), ([#""a""#], .everything),
            (["a,\u{E4}"], .everything),
        ] as [([String], VaryField)])
    func `Vary is a list of names, or it is everything`(values: [String], expected: VaryField) {
        var fields = Fields()
        for value in values { fields.append(name: "Vary", value: value) }
        #expect(VaryField(fields) == expected)
    }
}
