extension ContentCodec {
    /// The zlib format of RFC 1950. Some servers send RFC 1951's raw deflate under this name; both are decoded.
    public static let deflate = ContentCodec("deflate", decoder: DeflateDecoder.self, encoder: DeflateEncoder.self)
}

private struct DeflateDecoder: DecodingEngine, ~Copyable {
    private var stream: ZStream

    init() throws(InflateError) {
        stream = try ZStream(inflating: .zlib)
    }

    /// The first byte distinguishes the formats. In zlib's, the low half is 8; in raw deflate, that would be a stored
    /// block with nonzero padding, which no encoder writes.
    mutating func begin(with byte: UInt8) {
        if byte & 0x0F != 8 { stream.restart(.raw) }
    }

    mutating func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> CodingProgress {
        stream.inflate(input, into: output)
    }
}

private struct DeflateEncoder: EncodingEngine, ~Copyable {
    private var stream: ZStream

    init(level: Int) throws(InflateError) {
        stream = try ZStream(deflating: .zlib, level: level)
    }

    mutating func encode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, _ flush: EncodingFlush
    ) -> CodingProgress {
        stream.deflate(input, into: output, flush)
    }
}
