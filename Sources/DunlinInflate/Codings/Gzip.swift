internal import DunlinTypes

extension ContentCodec {
    /// The gzip format of RFC 1952: one or several members, each with a checksum.
    public static let gzip = ContentCodec(
        "gzip", aliases: ["x-gzip"], decoder: GzipDecoder.self, encoder: GzipEncoder.self)
}

/// Members follow each other directly, and their contents are joined. zlib checks header, CRC and length.
private struct GzipDecoder: DecodingEngine, ~Copyable {
    private var stream: ZStream

    init() throws(InflateError) {
        stream = try ZStream(inflating: .gzip)
    }

    /// The length in its last four bytes (RFC 1952 §2.3.1).
    static func contentLength(saidBy coded: Bytes) -> Int? {
        guard coded.count >= 18 else { return nil }
        return coded.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Whether a member begins; zlib checks the rest of its header.
    mutating func goesOn(with byte: UInt8) -> Bool {
        guard byte == 0x1F else { return false }
        stream.restart(.gzip)
        return true
    }

    mutating func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> CodingProgress {
        stream.inflate(input, into: output)
    }
}

private struct GzipEncoder: EncodingEngine, ~Copyable {
    private var stream: ZStream

    init(level: Int) throws(InflateError) {
        stream = try ZStream(deflating: .gzip, level: level)
    }

    mutating func encode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, _ flush: EncodingFlush
    ) -> CodingProgress {
        stream.deflate(input, into: output, flush)
    }
}
