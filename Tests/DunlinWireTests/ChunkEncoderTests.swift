import DunlinTypes
import DunlinWire
import LedgerRows
import Testing

@Suite struct `Chunk encoder` {
    @Test(
        .rules("9112-7.1-1"),
        arguments: [
            (1, "1\r\n"), (9, "9\r\n"), (10, "a\r\n"), (15, "f\r\n"), (16, "10\r\n"), (255, "ff\r\n"), (256, "100\r\n"),
            (0xABCDEF0, "abcdef0\r\n"), (Int.max, "7fffffffffffffff\r\n"), (0, ""), (-1, ""),
        ])
    func `the chunk encoder writes a size, and nothing for what would end the body`(size: Int, expected: String) {
        var buffer: [UInt8] = []
        ChunkEncoder.appendHeader(ofSize: size, into: &buffer)
        #expect(String(Bytes(buffer)) == expected)
    }

    @Test(.rules("9112-7.1-1")) func `the chunk encoder writes what the body reader reads`() throws {
        var buffer: [UInt8] = []
        for text in ["one", "", "twelve bytes", "\r\n0\r\n\r\n"] { ChunkEncoder.append(Bytes(text), into: &buffer) }
        try ChunkEncoder.appendEnd(trailers: ["A": " b ", "C": ""], into: &buffer)
        let expected = BodyOutcome(
            body: "onetwelve bytes\r\n0\r\n\r\n", consumed: buffer.count, trailers: ["A": "b", "C": ""])
        #expect(BodyOutcome(of: [buffer], framing: .chunked) == expected)
    }

    @Test func `a chunked body may end without trailers`() throws {
        var buffer: [UInt8] = []
        try ChunkEncoder.appendEnd(into: &buffer)
        #expect(String(Bytes(buffer)) == "0\r\n\r\n")
    }

    static let refused: [(Fields, WireError)] = [
        (["A b": "c"], .invalidRequestFieldName(beginning: "A")),
        (["A": "b\r\nC: d"], .invalidRequestFieldValue(name: "A")),
        (["B": "c", "Content-length": "5"], .forbiddenTrailer(name: "Content-length")),
        (["Host": "a"], .forbiddenTrailer(name: "Host")),
    ]

    @Test(.rules("9110-6.5.1-1"), arguments: refused)
    func `trailers that cannot be sent are refused, and leave no trace`(trailers: Fields, expected: WireError) {
        var buffer: [UInt8] = []
        #expect(throws: expected) { try ChunkEncoder.appendEnd(trailers: trailers, into: &buffer) }
        #expect(buffer.isEmpty)
    }
}
