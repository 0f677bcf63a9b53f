import DunlinInflate
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Content codings` {
    static let fields: [([String], [ContentCodec]?)] = [
        ([], []),
        ([""], []),
        (["identity"], []),
        (["gzip"], [.gzip]),
        (["X-GZip"], [.gzip]),
        (["Deflate"], [.deflate]),
        (["deflate, gzip"], [.deflate, .gzip]),
        (["deflate", "gzip"], [.deflate, .gzip]),
        ([" gzip\t,, \tidentity ,gzip,", " , deflate "], [.gzip, .gzip, .deflate]),
        (["br"], nil),
        (["gzip, br"], nil),
        (["br, gzip, gzip, gzip, gzip, gzip"], nil),
        (["gzip deflate"], nil),
        (["gzip;q=1"], nil),
        (["*"], nil),
        (["gzıp"], nil),
        (["gzip\0"], nil),
        (["gzip\u{A0}"], nil),
    ]

    @Test(.rules("9110-8.4-2", "9110-8.4-4", "9110-8.4.1-1"), arguments: fields)
    func `content codings are read from all fields in order`(values: [String], expected: [ContentCodec]?) throws {
        #expect(try ContentCodecs.known.chain(values) == expected)
    }

    @Test func `content codings are limited in number`() throws {
        #expect(try ContentCodecs.known.chain(["gzip, identity, gzip", "gzip, gzip"])?.count == 4)
        #expect(throws: InflateError.tooManyCodings(limit: 4)) {
            try ContentCodecs.known.chain(["gzip, gzip, gzip", "gzip, gzip"])
        }
        #expect(throws: InflateError.tooManyCodings(limit: 0)) { try ContentCodecs.known.chain(["gzip"], limit: 0) }
        #expect(throws: InflateError.tooManyCodings(limit: 4)) {
            _ = try ContentDecoder([.gzip, .gzip, .gzip, .gzip, .gzip])
        }
    }

    @Test(.rules("9110-8.4.1-1")) func `content codings are named as in the field`() throws {
        for codec in ContentCodecs.known.all {
            for name in [codec.name] + codec.aliases { #expect(try ContentCodecs.known.chain([name]) == [codec]) }
        }
    }

    @Test func `content codings that are to be asked for are asked for in the order of the list`() {
        #expect(ContentCodecs.known.accepted == "gzip, deflate")
        #expect(ContentCodecs([.deflate, .gzip]).accepted == "deflate, gzip")
        #expect(ContentCodecs([]).accepted == nil)
        let quiet = ContentCodecs.known.adding(.quiet)
        #expect(quiet.accepted == "gzip, deflate")
        #expect(quiet.named("Silent") == .quiet && ContentCodecs.known.named("quiet") == nil)
    }

    @Test func `a content coding that can only be decoded is not encoded`() throws {
        #expect(ContentCodecs.known.all.allSatisfy { $0.isEncodable })
        #expect(!ContentCodec.quiet.isEncodable)
        #expect(throws: InflateError.decodingOnly(coding: "quiet")) { _ = try ContentEncoder(.quiet) }
    }

    @Test func `a content coding tells its content's length where its format does`() {
        #expect(ContentCodec.gzip.contentLength(saidBy: Bytes(Samples.gzip)) == Samples.text.utf8.count)
        #expect(ContentCodec.gzip.contentLength(saidBy: Bytes(Samples.gzip.suffix(17))) == nil)
        #expect(ContentCodec.deflate.contentLength(saidBy: Bytes(Samples.zlib)) == nil)
    }
}

extension ContentCodec {
    /// Takes any byte for the end.
    fileprivate static let quiet = ContentCodec(
        "Quiet", aliases: ["Silent"], isAskedFor: false, decoder: QuietDecoder.self)
}

private struct QuietDecoder: DecodingEngine, ~Copyable {
    init() throws(InflateError) {}

    mutating func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> CodingProgress {
        CodingProgress(consumed: input.count, produced: 0, .ended)
    }
}
