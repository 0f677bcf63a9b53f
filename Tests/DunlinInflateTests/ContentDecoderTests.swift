import DunlinInflate
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Content decoder` {
    static let bodies: [([ContentCodec], [UInt8], String)] = [
        ([], Array(Samples.text.utf8), Samples.text),
        ([.gzip], Samples.gzip, Samples.text),
        ([.gzip], Samples.gzipEmpty, ""),
        ([.gzip], Samples.gzipStored, Samples.text),
        ([.gzip], Samples.gzipFixed, Samples.text),
        ([.gzip], Samples.gzipDynamic, Samples.lines),
        ([.gzip], Samples.gzipNamed, Samples.text),
        ([.gzip], Samples.gzip + Samples.gzipEmpty + Samples.gzipNamed, Samples.text + Samples.text),
        ([.gzip], Samples.gzip + [0], Samples.text),
        ([.gzip], Samples.gzip + Samples.gzip + Payload.zeros(9), Samples.text + Samples.text),
        ([.deflate], Samples.zlib, Samples.text),
        ([.deflate], Samples.zlibEmpty, ""),
        ([.deflate], Samples.zlibSmallWindow, Samples.lines),
        ([.deflate], Samples.zlibStored, Samples.text),
        ([.deflate], Samples.zlib + [0, 0], Samples.text),
        // Raw, which RFC 9110 §8.4.1.2 notes that some send.
        ([.deflate], Samples.raw, Samples.text),
        ([.deflate], Samples.rawDynamic, Samples.lines),
        ([.deflate], Samples.rawStored, Samples.text),
        ([.deflate], Samples.rawEmpty, ""),
        ([.deflate], Samples.raw + [0], Samples.text),
        ([.gzip, .deflate], Samples.gzipInZlib, Samples.text),
        ([.deflate, .gzip], Samples.zlibInGzip, Samples.text),
        ([.deflate, .gzip, .gzip], Samples.rawInGzipInGzip, Samples.text),
        // No bytes are no body, whatever they are called.
        ([], [], ""),
        ([.gzip], [], ""),
        ([.deflate], [], ""),
        ([.deflate, .gzip], [], ""),
    ]

    @Test(.rules("9110-8.4.1-2"), arguments: bodies)
    func `the content decoder decodes however the body is cut`(codings: [ContentCodec], wire: [UInt8], expected: String)
    {
        for pieces in cuts(of: wire) {
            #expect(DecodeOutcome(of: pieces, codings) == DecodeOutcome(expected))
        }
    }

    static let streams: [([ContentCodec], [UInt8])] = [
        ([.gzip], Samples.gzip), ([.gzip], Samples.gzipEmpty), ([.gzip], Samples.gzipStored),
        ([.gzip], Samples.gzipFixed), ([.gzip], Samples.gzipDynamic), ([.gzip], Samples.gzipNamed),
        ([.deflate], Samples.zlib), ([.deflate], Samples.zlibEmpty), ([.deflate], Samples.zlibSmallWindow),
        ([.deflate], Samples.zlibStored), ([.deflate], Samples.raw), ([.deflate], Samples.rawDynamic),
        ([.deflate], Samples.rawStored), ([.deflate], Samples.rawEmpty), ([.gzip, .deflate], Samples.gzipInZlib),
        ([.deflate, .gzip], Samples.zlibInGzip), ([.deflate, .gzip, .gzip], Samples.rawInGzipInGzip),
    ]

    @Test(arguments: streams)
    func `a body cut short is an error`(codings: [ContentCodec], wire: [UInt8]) {
        for end in 1..<wire.count {
            #expect(DecodeOutcome(of: [Array(wire[..<end])], codings).error == .truncated, "after \(end) bytes")
        }
        #expect(DecodeOutcome(of: [wire], codings).error == nil)
    }

    @Test func `a second member cut short is an error`() {
        let wire = Samples.gzip + Samples.gzipNamed
        for end in (Samples.gzip.count + 1)..<wire.count {
            let outcome = DecodeOutcome(of: [Array(wire[..<end])], [.gzip])
            #expect(outcome.error == .truncated, "after \(end) bytes")
            #expect(outcome.body.starts(with: Array(Samples.text.utf8)))
        }
    }

    private static func changed(_ bytes: [UInt8], _ index: Int, _ value: UInt8) -> [UInt8] {
        var bytes = bytes
        bytes[index < 0 ? bytes.count + index : index] = value
        return bytes
    }

    static let faults: [([ContentCodec], [UInt8], DecodeOutcome)] = [
        ([.gzip], Samples.zlib, DecodeOutcome("", .corrupt("incorrect header check"))),
        ([.gzip], Array("<html>".utf8), DecodeOutcome("", .corrupt("incorrect header check"))),
        ([.gzip], changed(Samples.gzip, 2, 7), DecodeOutcome("", .corrupt("unknown compression method"))),
        ([.gzip], changed(Samples.gzip, 3, 0x80), DecodeOutcome("", .corrupt("unknown header flags set"))),
        ([.gzip], Samples.gzipBadHeaderCRC, DecodeOutcome("", .corrupt("header crc mismatch"))),
        ([.gzip], changed(Samples.gzip, -8, 0), DecodeOutcome(Samples.text, .corrupt("incorrect data check"))),
        ([.gzip], changed(Samples.gzip, -4, 0), DecodeOutcome(Samples.text, .corrupt("incorrect length check"))),
        ([.gzip], changed(Samples.gzip, 10, 7), DecodeOutcome("", .corrupt("invalid block type"))),
        ([.gzip], Samples.gzip + [1], DecodeOutcome(Samples.text, .trailingData)),
        ([.gzip], Samples.gzip + Array("\r\n".utf8), DecodeOutcome(Samples.text, .trailingData)),
        ([.gzip], Samples.gzip + [0, 0, 1], DecodeOutcome(Samples.text, .trailingData)),
        ([.gzip], Samples.gzip + [0] + Samples.gzip, DecodeOutcome(Samples.text, .trailingData)),
        ([.gzip], Samples.gzip + [0x1F], DecodeOutcome(Samples.text, .truncated)),
        ([.gzip], Samples.gzip + [0x1F, 0x8C], DecodeOutcome(Samples.text, .corrupt("incorrect header check"))),
        ([.deflate], changed(Samples.zlib, 1, 0), DecodeOutcome("", .corrupt("incorrect header check"))),
        ([.deflate], changed(Samples.zlib, 0, 0x88), DecodeOutcome("", .corrupt("incorrect header check"))),
        ([.deflate], changed(Samples.zlib, -1, 0), DecodeOutcome(Samples.text, .corrupt("incorrect data check"))),
        (
            [.deflate], Samples.zlibDictionary,
            DecodeOutcome("", .corrupt("a preset dictionary is required"))
        ),
        ([.deflate], [0x03], DecodeOutcome("", .truncated)),
        ([.deflate], [0x07], DecodeOutcome("", .corrupt("invalid block type"))),
        ([.deflate], [0x01, 1, 0, 0, 0], DecodeOutcome("", .corrupt("invalid stored block lengths"))),
        // A copy from before the beginning.
        ([.deflate], [0x4B, 0x04, 0x32, 0], DecodeOutcome("a", .corrupt("invalid distance too far back"))),
        ([.deflate], Samples.zlib + Samples.zlib, DecodeOutcome(Samples.text, .trailingData)),
        ([.deflate], Samples.zlib + Samples.gzip, DecodeOutcome(Samples.text, .trailingData)),
        ([.deflate], Samples.raw + [0x1F], DecodeOutcome(Samples.text, .trailingData)),
        // The outer coding is complete, the inner is not, or the other way round.
        ([.deflate, .gzip], Samples.gzip, DecodeOutcome("", .corrupt("invalid code lengths set"))),
        ([.gzip, .gzip], Samples.gzipEmpty, DecodeOutcome("", .truncated)),
        ([.gzip, .deflate], Samples.gzipInZlib.dropLast(), DecodeOutcome(Samples.text, .truncated)),
        (
            [.gzip, .deflate], changed(Samples.gzipInZlib, -1, 0),
            DecodeOutcome(Samples.text, .corrupt("incorrect data check"))
        ),
    ]

    @Test(arguments: faults)
    func `the content decoder gives what precedes a fault, then the fault`(
        codings: [ContentCodec], wire: [UInt8], expected: DecodeOutcome
    ) {
        for pieces in cuts(of: wire) {
            #expect(DecodeOutcome(of: pieces, codings) == expected)
        }
    }

    @Test func `the content decoder repeats its error`() throws {
        var decoder = try ContentDecoder([.gzip])
        decoder.feed("no gzip")
        for _ in 0..<2 {
            #expect(throws: InflateError.corrupt("incorrect header check")) { try decoder.next() }
            #expect(throws: InflateError.corrupt("incorrect header check")) { try decoder.finish() }
            decoder.feed(Bytes(Samples.gzip))
        }
    }

    @Test func `the content decoder counts the wire's bytes and the decoded ones`() throws {
        var decoder = try ContentDecoder([.gzip, .deflate])
        decoder.feed(Bytes(Samples.gzipInZlib))
        #expect(decoder.wireCount == Samples.gzipInZlib.count)
        #expect(decoder.decodedCount == 0)
        while try decoder.next() != nil {}
        try decoder.finish()
        #expect(decoder.wireCount == Samples.gzipInZlib.count)
        #expect(decoder.decodedCount == Samples.text.utf8.count)
    }

    @Test func `the content decoder does not look at bytes that carry no coding`() throws {
        var limits = InflateLimits()
        limits.decodedBytes = 1
        var decoder = try ContentDecoder([], limits: limits)
        decoder.feed(.empty)
        #expect(try decoder.next() == nil)
        decoder.feed("body")
        #expect(try decoder.next() == "body")
        #expect(try decoder.next() == nil)
        #expect(decoder.wireCount == 4)
        #expect(decoder.decodedCount == 4)
    }

    @Test(arguments: [1, 7, 512, 65_536, 1_000_000])
    func `the content decoder gives pieces no larger than asked for`(size: Int) throws {
        let body = Payload.prose(100_000)
        var limits = InflateLimits()
        limits.pieceSize = size
        var decoder = try ContentDecoder([.gzip], limits: limits)
        decoder.feed(Bytes(try Payload.encoded([body])))
        var decoded: [UInt8] = []
        while let piece = try decoder.next() {
            #expect(!piece.isEmpty && piece.count <= size)
            decoded += piece
        }
        try decoder.finish()
        #expect(decoded == body)
    }

    @Test(arguments: [1, 2, 7, 512], [Samples.raw, Samples.rawDynamic, Samples.zlib])
    func `the content decoder returns everything that the last byte encodes`(size: Int, wire: [UInt8]) {
        var limits = InflateLimits()
        limits.pieceSize = size
        let expected = DecodeOutcome(of: [wire], [.deflate])
        #expect(expected.error == nil)
        #expect(DecodeOutcome(of: [wire], [.deflate], limits: limits) == expected)
    }
}
