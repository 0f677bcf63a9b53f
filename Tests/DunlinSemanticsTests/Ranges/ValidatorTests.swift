import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `A validator` {
    @Test(
        .rules("9110-8.8.3-1", "9110-8.8.3-2"),
        arguments: [
            (#""abc""#, false), (#""""#, false), (#"W/"abc""#, true), (#"W/"""#, true), (#""!#~/\x""#, false),
            ("\"caf\u{E9}\"", false),
        ])
    func `a validator may be an entity tag`(text: String, isWeak: Bool) throws {
        let tag = try #require(EntityTag(text))
        #expect(tag.description == text)
        #expect(tag.isWeak == isWeak)
        #expect(tag.isStronglyEqual(to: tag) == !isWeak)
    }

    @Test(
        .rules("9110-8.8.3-1"),
        arguments: [
            "", "abc", "\"", "\"abc", "abc\"", #"w/"abc""#, #"W"abc""#, #"W/abc"#, "W/", "W", #""a"b""#, #""a" "#,
            #" "a""#, #""a b""#, "\"a\u{7F}\"", "\"a\tb\"", #""a","b""#, #"W/W/"a""#, #"*"#, "\"a\0\"",
        ])
    func `a text that is no entity tag is refused`(text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test func `an entity tag that text cannot hold is refused`() {
        #expect(EntityTag(Bytes([0x22, 0xFF, 0x22])) == nil)
    }

    private static let date = "Sun, 06 Nov 1994 08:50:37 GMT"
    private static let before = "Sun, 06 Nov 1994 08:49:37 GMT"

    static let fields: [(Fields, String?)] = [
        (["ETag": #""a""#], #""a""#), (["ETag": #"W/"a""#], nil), ([:], nil),
        (["ETag": #""a""#, "etag": #""a""#], #""a""#), (["ETag": #""a""#, "etag": #""b""#], nil),
        (["ETag": "a"], nil), (["ETag": #""a""#, "Last-Modified": before, "Date": date], #""a""#),
        // With a tag, be it of no use, the date does not count.
        (["ETag": #"W/"a""#, "Last-Modified": before, "Date": date], nil),
        (["ETag": "a", "Last-Modified": before, "Date": date], nil),
        (["Last-Modified": before, "Date": date], before), (["Last-Modified": before], nil),
        (["Last-Modified": before, "Date": before], nil),
        (["Last-Modified": before, "Date": "Sun, 06 Nov 1994 08:50:36 GMT"], nil),
        (["Last-Modified": date, "Date": before], nil), (["Last-Modified": "yesterday", "Date": date], nil),
        (["Last-Modified": before, "Date": "now"], nil),
        (["Last-Modified": before, "last-modified": date, "Date": date], nil),
        (["Last-Modified": "Sunday, 06-Nov-94 08:49:37 GMT", "Date": date], before),
    ]

    @Test(.rules("9110-8.8.2-1", "9110-8.8.2-2", "9110-13.1.5-2", "9110-13.1.5-3"), arguments: fields)
    func `a validator is strong, or there is none`(fields: Fields, expected: String?) {
        let validator = Validator(fields)
        #expect(validator?.description == expected)
        #expect(expected.flatMap { Validator($0) } == validator)
    }

    @Test func `a text that is no validator is refused`() {
        #expect(Validator(#"W/"a""#) == nil)
        #expect(Validator("a") == nil)
        #expect(Validator("") == nil)
    }

    static let agreements: [(String, Fields, Validator.Agreement)] = [
        (#""a""#, ["ETag": #""a""#], .same), (#""a""#, ["ETag": #""b""#], .changed),
        (#""a""#, ["ETag": #"W/"a""#], .changed), (#""a""#, ["ETag": "a"], .changed), (#""a""#, [:], .unsaid),
        (#""a""#, ["ETag": #""a""#, "etag": #""b""#], .changed), (#""a""#, ["Last-Modified": before], .unsaid),
        (before, ["Last-Modified": before], .same), (before, ["Last-Modified": date], .changed),
        (before, ["Last-Modified": "?"], .changed), (before, ["ETag": #""a""#], .unsaid),
    ]

    @Test(.rules("9110-8.8.3-2", "9110-15.3.7-2"), arguments: agreements)
    func `a validator says whether another response is of the same state`(
        text: String, fields: Fields, expected: Validator.Agreement
    ) throws {
        let validator = try #require(Validator(text))
        #expect(validator.agreement(with: fields) == expected)
    }
}
