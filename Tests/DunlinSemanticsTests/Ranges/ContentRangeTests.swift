import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `A content range` {
    static let ranges: [(String, ContentRange)] = [
        ("bytes 0-99/200", .part(0..<100, complete: 200)), ("bytes 0-0/1", .part(0..<1, complete: 1)),
        ("bytes 5-9/*", .part(5..<10, complete: nil)), ("bytes */200", .unsatisfied(complete: 200)),
        ("bytes */0", .unsatisfied(complete: 0)), ("BYTES 100-199/200", .part(100..<200, complete: 200)),
        ("bytes 0-9223372036854775806/*", .part(0..<Int.max, complete: nil)),
        (
            "bytes 0-9223372036854775806/9223372036854775807", .part(0..<Int.max, complete: Int.max)
        ),
        ("bytes 007-0010/011", .part(7..<11, complete: 11)),
    ]

    @Test(.rules("9110-15.3.7-1", "9110-15.5.17-1"), arguments: ranges)
    func `a content range says which part of what a response holds`(text: String, range: ContentRange) throws {
        let read = try #require(ContentRange(Bytes(text)))
        #expect(read == range)
        #expect(ContentRange(Bytes(read.description)) == range)
        #expect(ContentRange(["Content-Range": text, "content-range": text]) == range)
    }

    @Test(
        .rules("9110-14.1-1", "9110-14.1-2", "9110-14.4-2"),
        arguments: [
            "", "bytes", "bytes ", "bytes 0-99", "bytes 0-99/", "bytes -99/200", "bytes 0-/200", "bytes 99-0/200",
            "bytes 0-200/200", "bytes 0-99/99", "bytes 0-0/0", "bytes=0-99/200", "bytes  0-99/200", "bytes 0 -99/200",
            "bytes 0-99/200 ", " bytes 0-99/200", "bytes\t0-99/200", "bytes 0-99/200,", "bytes 0-99/200, 100-199/200",
            "items 0-99/200", "bytes */*", "bytes */", "bytes *", "bytes +0-99/200", "bytes 0x0-99/200",
            "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*", "bytes 0-1/99999999999999999999",
            "bytes */99999999999999999999", "bytes 0-99/200\0", "bytes ٠-٩/*",
        ])
    func `a text that is no content range is refused`(text: String) {
        #expect(ContentRange(Bytes(text)) == nil)
    }

    @Test func `two content ranges that differ count for nothing`() {
        #expect(ContentRange([:]) == nil)
        #expect(ContentRange(["Content-Range": "bytes 0-1/2", "content-range": "bytes 0-0/2"]) == nil)
        #expect(ContentRange.part(0..<1, complete: 2).complete == 2)
        #expect(ContentRange.unsatisfied(complete: 3).complete == 3)
    }

    static let offers: [(Fields, AcceptRanges)] = [
        ([:], .unsaid), (["Accept-Ranges": "bytes"], .bytes), (["accept-ranges": "Bytes, items"], .bytes),
        (["Accept-Ranges": "none"], .none), (["Accept-Ranges": "items"], .none), (["Accept-Ranges": ""], .none),
        (["Accept-Ranges": "items", "accept-ranges": "bytes"], .bytes), (["Accept-Ranges": "bytesize"], .none),
    ]

    @Test(.rules("9110-14.3-1"), arguments: offers)
    func `Accept-Ranges says whether a server takes ranges`(fields: Fields, expected: AcceptRanges) {
        #expect(AcceptRanges(fields) == expected)
    }
}
