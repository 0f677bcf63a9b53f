import DunlinInflate
import Testing

@Suite struct `Content codings` {
    static let fields: [([String], [ContentCoding]?)] = [
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

    @Test(arguments: fields)
    func `are read from all fields in order`(values: [String], expected: [ContentCoding]?) throws {
        #expect(try ContentCoding.chain(values) == expected)
    }

    @Test func `are limited in number`() throws {
        #expect(try ContentCoding.chain(["gzip, identity, gzip", "gzip, gzip"])?.count == 4)
        #expect(throws: InflateError.tooManyCodings(limit: 4)) {
            try ContentCoding.chain(["gzip, gzip, gzip", "gzip, gzip"])
        }
        #expect(throws: InflateError.tooManyCodings(limit: 0)) { try ContentCoding.chain(["gzip"], limit: 0) }
        #expect(throws: InflateError.tooManyCodings(limit: 4)) {
            _ = try ContentDecoder([.gzip, .gzip, .gzip, .gzip, .gzip])
        }
    }

    @Test func `are named as in the field`() throws {
        for coding in ContentCoding.allCases { #expect(try ContentCoding.chain([coding.rawValue]) == [coding]) }
    }
}
