import Dunlin
import Testing

@testable import DunlinImages

@Suite struct `Unfinished images` {
    private static let dates: Fields = [
        "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:37 GMT",
    ]

    private static func head(_ fields: Fields, _ status: HTTP.Status = 200) -> ResponseHead {
        ResponseHead(version: .http11, status: status, fields: fields)
    }

    @Test(
        arguments: [
            (["ETag": "\"1\""], "\"1\""), (["ETag": "W/\"1\""], nil), (["ETag": "1"], nil),
            (dates, dates["last-modified"]),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:36 GMT"], nil),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil), ([:], nil),
            (dates.overlaid(with: ["Last-Modified": "Thu, 31 Feb 1994 08:49:37 GMT"]), nil),
            (["ETag": "\"1\"", "Accept-Ranges": "rows"], nil),
            (["ETag": "\"1\"", "Accept-Ranges": "none"], nil), (["ETag": "\"1\"", "Accept-Ranges": "bytes"], "\"1\""),
        ] as [(Fields, String?)])
    func `an image with a strong validator can be resumed`(fields: Fields, validator: String?) {
        #expect(PartialImage("abc", of: Self.head(fields), from: nil)?.fields["If-Range"] == validator)
        #expect(PartialImage("", of: Self.head(fields), from: nil) == nil)
    }

    @Test(
        arguments: [
            (206, ["Content-Range": "bytes 3-9/10"], false),
            (206, ["Content-Range": "bytes 3-9/10", "ETag": "\"1\""], true),
            (206, ["Content-Range": "Bytes 3-9/*", "ETag": "\"1\""], true),
            (206, ["Content-Range": "bytes 3-9/1000", "ETag": "\"1\""], false),
            (206, ["Content-Range": "bytes 3-/10", "ETag": "\"1\""], false),
            (206, ["Content-Range": "bytes +3-9/10", "ETag": "\"1\""], false),
            (206, ["Content-Range": "bytes 3-+9/10", "ETag": "\"1\""], false),
            (206, ["Content-Range": "bytes 3-9/+10", "ETag": "\"1\""], false),
            (206, ["Content-Range": "bytes 3-9/10", "ETag": "\"2\""], false),
            (206, ["Content-Range": "bytes 2-9/10", "ETag": "\"1\""], false),
            (206, ["Content-Range": "bytes 33-9/10", "ETag": "\"1\""], false),
            (206, ["Content-Range": "bytes"], false), (206, [:], false),
            (200, ["Content-Range": "bytes 3-9/10"], false),
        ] as [(HTTP.Status, Fields, Bool)])
    func `the rest of an image begins where its kept part ends`(status: HTTP.Status, fields: Fields, isRest: Bool)
        throws
    {
        let part = try #require(PartialImage("abc", of: Self.head(["ETag": "\"1\""]), from: nil))
        #expect(part.fields == ["Range": "bytes=3-", "If-Range": "\"1\""])
        #expect(part.isContinued(by: Self.head(fields, status), of: 7, from: nil) == isRest)
    }

    /// Added to what is kept, a length of the server's own could be more than fits.
    @Test(arguments: [nil, 6, 8, Int.max])
    func `the rest of an image is as long as its range`(length: Int?) throws {
        let part = try #require(PartialImage("abc", of: Self.head(["ETag": "\"1\""]), from: nil))
        let rest = Self.head(["Content-Range": "bytes 3-9/10", "ETag": "\"1\""], 206)
        #expect(!part.isContinued(by: rest, of: length, from: nil))
    }

    private static let sources: [FinalURL?] = [nil, FinalURL("http://one.test/"), FinalURL("http://two.test/")]

    @Test(arguments: sources, sources)
    func `the rest of an image comes from the same URL as its kept part`(source: FinalURL?, other: FinalURL?) throws {
        let part = try #require(PartialImage("abc", of: Self.head(["ETag": "\"1\""]), from: source))
        let rest = Self.head(["Content-Range": "bytes 3-9/10", "ETag": "\"1\""], 206)
        #expect(part.isContinued(by: rest, of: 7, from: other) == (source == other))
    }

    @Test func `the parts kept are limited, and the oldest goes first`() throws {
        var parts = PartialImages<Int>(capacity: 10)
        func part(_ count: Int) throws -> PartialImage {
            let bytes = Bytes([UInt8](repeating: 1, count: count))
            return try #require(PartialImage(bytes, of: Self.head(["ETag": "\"1\""]), from: nil))
        }
        for (identity, count, left) in [(1, 4, 4), (2, 4, 8), (1, 5, 9), (3, 11, 9), (4, 2, 7), (5, 10, 10)] {
            parts.put(try part(count), for: identity)
            #expect(parts.usage == left, "\(identity)")
        }
        #expect(parts.count == 1)
        let (first, again) = (parts.take(5), parts.take(5))
        #expect(first?.bytes.count == 10)
        #expect(again == nil)
        #expect(parts.usage == 0)
    }

    @Test(arguments: [(["abc"], "abc"), (["abc", "de", "f"], "abcdef"), ([], ""), (["", "a", "", "b"], "ab")])
    func `a body is its pieces, one after the other`(pieces: [String], whole: String) {
        var body = ImageBody(behind: nil, expecting: nil)
        for piece in pieces { body.append(Bytes(piece)) }
        #expect(String(body.bytes) == whole)
        #expect(body.count == whole.utf8.count)
    }
}
