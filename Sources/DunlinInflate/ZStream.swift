internal import CZlib

/// Owns a `z_stream` and zlib's tables for it.
///
/// It is on the heap, because zlib keeps a pointer to the structure and refuses to work if it has moved. It is not
/// Sendable: its owner must keep its uses apart.
struct ZStream: ~Copyable {
    enum Format {
        case gzip
        case zlib
        /// Deflate without header and checksum.
        case raw
        /// The same, with a smaller window, as a power of two.
        case rawWindow(bits: Int)

        /// zlib's code for the format. If not said otherwise, the window is the largest.
        var windowBits: Int32 {
            switch self {
            case .gzip: 15 + 16
            case .zlib: 15
            case .raw: -15
            case .rawWindow(let bits): -Int32(bits)
            }
        }
    }

    private enum Direction {
        case inflating
        case deflating
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private let direction: Direction

    init(inflating format: Format) throws(InflateError) {
        stream = try Self.make { dunlin_inflate_init($0, format.windowBits) }
        direction = .inflating
    }

    init(deflating format: Format, level: Int) throws(InflateError) {
        stream = try Self.make { dunlin_deflate_init($0, Int32(level), format.windowBits) }
        direction = .deflating
    }

    deinit {
        switch direction {
        case .inflating: inflateEnd(stream)
        case .deflating: deflateEnd(stream)
        }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    private static func make(
        _ initialize: (UnsafeMutablePointer<z_stream>) -> Int32
    ) throws(InflateError) -> UnsafeMutablePointer<z_stream> {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard initialize(stream) == Z_OK else {
            stream.deinitialize(count: 1)
            stream.deallocate()
            throw .outOfMemory
        }
        return stream
    }

    /// Resets inflation to its beginning, keeping the tables.
    mutating func restart(_ format: Format) {
        inflateReset2(stream, format.windowBits)
    }

    /// Forgets all input and output, keeping the tables.
    mutating func forget() {
        switch direction {
        case .inflating: inflateReset(stream)
        case .deflating: deflateReset(stream)
        }
    }

    /// Goes on after the end of a raw stream with another one, which may refer to the output so far.
    mutating func goOnAfterEnd() {
        inflateResetKeep(stream)
    }

    /// Whether all input so far consists of whole blocks, and the last of them ended with its byte. Only after a call
    /// that used up its input and left room in its output.
    var isBetweenBlocks: Bool {
        // zlib sets 128 after a block, 64 within the last one, and counts unused bits below.
        stream.pointee.data_type & 0xFF == 128
    }

    /// Reads from `input` and writes to `output` until one of them is used up or the stream ends.
    mutating func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>
    ) -> CodingProgress {
        var (progress, code) = run(input, into: output) { CZlib.inflate($0, Z_NO_FLUSH) }
        switch code {
        // Z_BUF_ERROR: there was nothing to do when it was asked whether it holds more.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: progress.outcome = .ended
        case Z_NEED_DICT: progress.outcome = .failed(.corrupt("a preset dictionary is required"))
        case Z_MEM_ERROR: progress.outcome = .failed(.outOfMemory)
        default: progress.outcome = .failed(.corrupt(fault))
        }
        return progress
    }

    /// Deflates, in the same way.
    mutating func deflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, _ flush: EncodingFlush
    ) -> CodingProgress {
        let way =
            switch flush {
            case .none: Z_NO_FLUSH
            case .all: Z_SYNC_FLUSH
            case .end: Z_FINISH
            }
        return run(input, into: output) { CZlib.deflate($0, way) }.0
    }

    private mutating func run(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>,
        _ work: (UnsafeMutablePointer<z_stream>) -> Int32
    ) -> (CodingProgress, Int32) {
        // zlib counts in 32 bits, so longer input waits for the next call. zlib does not write to its input, though C
        // would allow it.
        let given = UInt32(clamping: input.count)
        let room = UInt32(clamping: output.count)
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = given
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = room
        let code = work(stream)
        let progress = CodingProgress(
            consumed: Int(given - stream.pointee.avail_in), produced: Int(room - stream.pointee.avail_out))
        return (progress, code)
    }

    /// zlib's text for what is wrong with the input; it is constant and contains none of the input.
    private var fault: String {
        stream.pointee.msg.map { String(cString: $0) } ?? "invalid data"
    }
}
