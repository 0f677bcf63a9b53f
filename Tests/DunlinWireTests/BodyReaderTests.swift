import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `Body reader` {
    static let bodies: [(BodyFraming, String, BodyOutcome)] = [
        (.none, "rest", BodyOutcome(body: "", consumed: 0)),
        (.upgrade, "rest", BodyOutcome(body: "", consumed: 0)),
        (.length(0), "rest", BodyOutcome(body: "", consumed: 0)),
        (.length(4), "bodyrest", BodyOutcome(body: "body", consumed: 4)),
        (.length(4), "body", BodyOutcome(body: "body", consumed: 4)),
        (.length(4), "bod", BodyOutcome(body: "bod", error: .truncatedBody)),
        (.length(4), "", BodyOutcome(body: "", error: .truncatedBody)),
        (.length(.max), "body", BodyOutcome(body: "body", error: .truncatedBody)),
        (.untilClose, "all of it", BodyOutcome(body: "all of it", consumed: 9)),
        (.untilClose, "", BodyOutcome(body: "", consumed: 0)),
        (.chunked, "0\r\n\r\nrest", BodyOutcome(body: "", consumed: 5)),
        (.chunked, "4\r\nbody\r\n0\r\n\r\nrest", BodyOutcome(body: "body", consumed: 14)),
        (
            .chunked, "1\r\na\r\n00a\r\n0123456789\r\nA\r\nabcdefghij\r\n000\r\n\r\n",
            BodyOutcome(body: "a0123456789abcdefghij", consumed: 45)
        ),
        (.chunked, "2\r\n\r\n\r\n0\r\n\r\n", BodyOutcome(body: "\r\n", consumed: 12)),
        (.chunked, "4;a;b=c;d=\"e;\\\"\\\\\"\r\nbody\r\n0;x\r\n\r\n", BodyOutcome(body: "body", consumed: 33)),
        (
            .chunked, "4 ; a = b\t;c\t=\t\"\" ; d\r\nbody\r\n0 ;e=\" \té\"\r\n\r\n",
            BodyOutcome(body: "body", consumed: 44)
        ),
        // Cut short: an error, never a shorter body.
        (.chunked, "", BodyOutcome(body: "", error: .truncatedBody)),
        (.chunked, "4", BodyOutcome(body: "", error: .truncatedBody)),
        (.chunked, "4\r\nbod", BodyOutcome(body: "bod", error: .truncatedBody)),
        (.chunked, "4\r\nbody", BodyOutcome(body: "body", error: .truncatedBody)),
        (.chunked, "4\r\nbody\r\n", BodyOutcome(body: "body", error: .truncatedBody)),
        (.chunked, "4\r\nbody\r\n0", BodyOutcome(body: "body", error: .truncatedBody)),
        (.chunked, "4\r\nbody\r\n0\r\n", BodyOutcome(body: "body", error: .truncatedBody)),
        (.chunked, "4\r\nbody\r\n0\r\n\r", BodyOutcome(body: "body", error: .truncatedBody)),
        (.chunked, "4\r\nbody\r\n0\r\nA: b\r\n", BodyOutcome(body: "body", error: .truncatedBody)),
        // Sizes.
        (.chunked, "\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, ";a\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, " 4\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, "+4\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, "-4\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, "0x4\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, "4h\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, "4_0\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, "4\0\r\n", BodyOutcome(body: "", error: .invalidChunkSize)),
        (.chunked, "7fffffffffffffff\r\n", BodyOutcome(body: "", error: .truncatedBody)),
        (.chunked, "8000000000000000\r\n", BodyOutcome(body: "", error: .chunkSizeOverflow)),
        (.chunked, "10000000000000000\r\n", BodyOutcome(body: "", error: .chunkSizeOverflow)),
        (.chunked, "ffffffffffffffffff\r\n", BodyOutcome(body: "", error: .chunkSizeOverflow)),
        // Line ends.
        (.chunked, "4\nbody\r\n", BodyOutcome(body: "", error: .invalidChunkLineEnd)),
        (.chunked, "4\rbody\r\n", BodyOutcome(body: "", error: .invalidChunkLineEnd)),
        (.chunked, "4;a\nbody\r\n", BodyOutcome(body: "", error: .invalidChunkLineEnd)),
        (.chunked, "4;a\rbody\r\n", BodyOutcome(body: "", error: .invalidChunkLineEnd)),
        (.chunked, "4;a=\"\nbody\r\n", BodyOutcome(body: "", error: .invalidChunkLineEnd)),
        (.chunked, "4\r\nbody\n0\r\n\r\n", BodyOutcome(body: "body", error: .missingChunkEnd)),
        (.chunked, "4\r\nbody\r0\r\n\r\n", BodyOutcome(body: "body", error: .missingChunkEnd)),
        (.chunked, "4\r\nbodyX\r\n0\r\n\r\n", BodyOutcome(body: "body", error: .missingChunkEnd)),
        (.chunked, "4\r\nbody0\r\n\r\n", BodyOutcome(body: "body", error: .missingChunkEnd)),
        // Extensions.
        (.chunked, "4 \r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a=\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a \r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a=b \r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;=b\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a b\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a=b=c\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a=\"b\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a=\"b\\\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a=\"b\"c\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4;a=\"b\0\"\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
        (.chunked, "4 5\r\n", BodyOutcome(body: "", error: .invalidChunkExtension)),
    ]

    @Test(
        .rules(
            "9110-5.6.3-2", "9110-6.1-1", "9112-2.2-3", "9112-6.1-1", "9112-6.3-3", "9112-6.3-7", "9112-7.1-2",
            "9112-7.1.1-1", "9112-8-2", "9112-8-3"), arguments: bodies)
    func `the body reader finds the body however it is cut`(framing: BodyFraming, text: String, expected: BodyOutcome) {
        for pieces in cuts(of: text) {
            #expect(BodyOutcome(of: pieces, framing: framing) == expected)
        }
    }

    static let trailers: [(String, BodyOutcome)] = [
        ("A: b\r\nA:  c \r\n\r\nrest", BodyOutcome(body: "", consumed: 19, trailers: ["a": "b", "A": "c"])),
        ("Checksum:\r\n\r\n", BodyOutcome(body: "", consumed: 16, trailers: ["Checksum": ""])),
        (
            "Host: x\r\nA: b\r\nContent-length: 5\r\nTRANSFER-ENCODING: chunked\r\nTrailer: A\r\nSet-Cookie: a=b"
                + "\r\n\r\n",
            BodyOutcome(body: "", consumed: 96, trailers: ["A": "b"])
        ),
        ("A: b\n\r\n", BodyOutcome(body: "", error: .bareLineFeed)),
        ("\n", BodyOutcome(body: "", error: .bareLineFeed)),
        ("\rA", BodyOutcome(body: "", error: .bareCarriageReturn)),
        ("A : b\r\n\r\n", BodyOutcome(body: "", error: .whitespaceBeforeColon)),
        (": b\r\n\r\n", BodyOutcome(body: "", error: .emptyFieldName)),
        ("A: b\0\r\n\r\n", BodyOutcome(body: "", error: .controlCharacter)),
        ("A: b\r\n c\r\n\r\n", BodyOutcome(body: "", error: .foldedLine)),
        ("HTTP/1.1 200 OK\r\n\r\n", BodyOutcome(body: "", error: .invalidFieldName)),
    ]

    @Test(.rules("9110-6.5.2-1", "9112-7.1.2-2"), arguments: trailers)
    func `the body reader reads trailers like fields, but for those that come too late`(
        text: String, expected: BodyOutcome
    ) {
        for pieces in cuts(of: "0\r\n" + text) {
            #expect(BodyOutcome(of: pieces, framing: .chunked) == expected)
        }
    }

    private static func limits(_ change: (inout WireLimits) -> Void) -> WireLimits {
        var limits = WireLimits()
        change(&limits)
        return limits
    }

    static let limited: [(WireLimits, String, WireError?)] = [
        (limits { $0.chunkLineBytes = 6 }, "0004\r\nbody\r\n0;ab\r\n\r\n", nil),
        (limits { $0.chunkLineBytes = 6 }, "00004\r\n", .chunkLineTooLong(limit: 6)),
        (limits { $0.chunkLineBytes = 6 }, "0;abc\r\n", .chunkLineTooLong(limit: 6)),
        (limits { $0.chunkLineBytes = 6 }, "0000000", .chunkLineTooLong(limit: 6)),
        (limits { $0.chunkLineBytes = 0 }, "0", .chunkLineTooLong(limit: 0)),
        (limits { $0.chunkExtensionBytes = 5 }, "1;ab\r\nx\r\n0;c\r\n\r\n", nil),
        (limits { $0.chunkExtensionBytes = 5 }, "1;ab\r\nx\r\n0;cd\r\n\r\n", .chunkExtensionsTooLarge(limit: 5)),
        (limits { $0.chunkExtensionBytes = 0 }, "0\r\n\r\n", nil),
        (limits { $0.chunkExtensionBytes = 0 }, "0;", .chunkExtensionsTooLarge(limit: 0)),
        (limits { $0.trailerBytes = 8 }, "0\r\nA: b\r\n\r\n", nil),
        (limits { $0.trailerBytes = 7 }, "0\r\nA: b\r\n\r\n", .trailersTooLarge(limit: 7)),
        (limits { $0.trailerBytes = 7 }, "0\r\nA: bcde", .trailersTooLarge(limit: 7)),
        (limits { $0.trailerBytes = 2 }, "0\r\n\r\n", nil),
        (limits { $0.trailerBytes = 1 }, "0\r\n\r\n", .trailersTooLarge(limit: 1)),
        (limits { $0.lineBytes = 1 }, "0\r\n\r\n", .lineTooLong(limit: 1)),
        (limits { $0.lineBytes = 6 }, "0\r\nA: b\r\nC: d\r\n\r\n", nil),
        (limits { $0.lineBytes = 6 }, "0\r\nA: b\r\nC: de\r\n\r\n", .lineTooLong(limit: 6)),
        (limits { $0.trailerCount = 2 }, "0\r\nA: b\r\nC: d\r\n\r\n", nil),
        (limits { $0.trailerCount = 1 }, "0\r\nA: b\r\nC: d\r\n\r\n", .tooManyTrailers(limit: 1)),
    ]

    @Test(.rules("9112-7.1-2"), arguments: limited)
    func `the body reader's limits count as bytes arrive`(limits: WireLimits, text: String, expected: WireError?) {
        for pieces in cuts(of: text) {
            #expect(BodyOutcome(of: pieces, framing: .chunked, limits: limits).error == expected)
        }
    }

    @Test func `the body reader says where the message ended as often as it is asked`() throws {
        var reader = BodyReader(.length(2))
        let input = Array("xxabrest".utf8)
        #expect(!reader.isFinished)
        #expect(try reader.next(in: input.span.bytes, from: 2) == .data(2..<4))
        #expect(reader.isFinished)
        #expect(try reader.next(in: input.span.bytes, from: 4) == .end(consumed: 4))
        #expect(try reader.next(in: input.span.bytes, from: 4) == .end(consumed: 4))
        #expect(throws: Never.self) { try reader.endOfStream() }
    }

    @Test func `no body is finished at once, and one until close only by the end of the stream`() throws {
        #expect(BodyReader(.none).isFinished)
        #expect(BodyReader(.length(0)).isFinished)
        #expect(BodyReader(.length(-1)).isFinished)
        #expect(!BodyReader(.chunked).isFinished)
        var reader = BodyReader(.untilClose)
        #expect(!reader.isFinished)
        try reader.endOfStream()
        #expect(reader.isFinished)
    }

    @Test func `the body reader knows how much is still to come, looked at or skipped`() throws {
        var reader = BodyReader(.length(10))
        let input = Array("abc".utf8)
        _ = try reader.next(in: input.span.bytes, from: 0)
        #expect(reader.bytesLeft == 7)
        reader.skip(0)
        reader.skip(4)
        #expect(reader.bytesLeft == 3)
        #expect(throws: WireError.truncatedBody) {
            var cut = reader
            try cut.endOfStream()
        }
        reader.skip(3)
        #expect(reader.bytesLeft == nil)
        #expect(try reader.next(in: input.span.bytes, from: 3) == .end(consumed: 3))
    }

    @Test(
        arguments: [
            (.none, "", 0), (.length(7), "ab", 5), (.untilClose, "ab", .max), (.chunked, "", 0),
            (.chunked, "a\r\nbc", 8), (.chunked, "2\r\nbc", 0), (.chunked, "a", 0),
        ] as [(BodyFraming, String, Int)])
    func `the body reader knows how many bytes are sure to come`(framing: BodyFraming, text: String, expected: Int)
        throws
    {
        var reader = BodyReader(framing)
        let input = Array(text.utf8)
        var offset = 0
        while case .data(let range) = try reader.next(in: input.span.bytes, from: offset) { offset = range.upperBound }
        #expect(reader.certainBytes == expected)
    }
}
