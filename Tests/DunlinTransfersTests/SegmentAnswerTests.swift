import Dunlin
import DunlinSemantics
import DunlinTypes
import Testing

@testable import DunlinTransfers

@Suite struct `An answer to a segment` {
    private static let tag = #""v1""#

    /// Asked for 100..<200 of 1000.
    static let answers: [(HTTP.Status, Fields, SegmentAnswer)] = [
        (206, ["ETag": tag, "Content-Range": "bytes 100-199/1000"], .part(100..<200)),
        (206, ["ETag": tag, "Content-Range": "bytes 100-199/*"], .part(100..<200)),
        (206, ["ETag": tag, "Content-Range": "bytes 100-100/1000"], .part(100..<101)),
        (206, ["ETag": tag, "Content-Range": "bytes 100-200/1000"], .useless(.refused(.wrongRange))),
        (206, ["ETag": tag, "Content-Range": "bytes 99-199/1000"], .useless(.refused(.wrongRange))),
        (206, ["ETag": tag, "Content-Range": "bytes 100-199/999"], .useless(.refused(.lengthChanged))),
        (206, ["ETag": tag], .useless(.refused(.wrongRange))),
        (
            206, ["ETag": tag, "Content-Range": "bytes 100-199/1000", "Content-Length": "99"],
            .useless(.refused(.wrongRange))
        ),
        (
            206, ["ETag": tag, "Content-Range": "bytes 100-199/1000", "Content-Encoding": "gzip"],
            .useless(.refused(.coded))
        ),
        (206, ["Content-Type": "multipart/byteranges"], .useless(.refused(.severalParts))),
        (206, ["ETag": #""v2""#, "Content-Range": "bytes 100-199/1000"], .changed),
        (206, ["Content-Range": "bytes 100-199/1000"], .changed),
        (200, ["ETag": tag], .useless(.ignoresRanges)), (200, [:], .useless(.ignoresRanges)),
        (203, ["ETag": tag], .useless(.ignoresRanges)), (200, ["ETag": #""v2""#], .changed), (416, [:], .changed),
        (503, [:], .busy), (429, [:], .busy), (403, [:], .useless(.status)), (404, [:], .useless(.status)),
        (304, [:], .useless(.status)), (302, [:], .useless(.status)), (204, [:], .useless(.status)),
    ]

    @Test(arguments: answers)
    func `an answer from another origin is not used for the file`(
        status: HTTP.Status, fields: Fields, expected: SegmentAnswer
    ) throws {
        let validator = try #require(Validator(Self.tag))
        let head = ResponseHead(status: status, fields: fields)
        let answer = SegmentAnswer(head, isElsewhere: true, to: 100..<200, validator, of: 1000)
        let isAboutTheFile = [200, 203, 206, 416].contains(status.code)
        #expect(answer == (isAboutTheFile ? .useless(.elsewhere) : expected))
    }

    @Test(arguments: answers)
    func `each answer to a segment is classified by its status and fields`(
        status: HTTP.Status, fields: Fields, expected: SegmentAnswer
    ) throws {
        let validator = try #require(Validator(Self.tag))
        let head = ResponseHead(status: status, fields: fields)
        #expect(SegmentAnswer(head, to: 100..<200, validator, of: 1000) == expected)
    }
}
