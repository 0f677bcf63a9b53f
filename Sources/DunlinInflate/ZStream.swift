internal import CZlib

/// Owns one `z_stream` and the tables that zlib hangs on it.
///
/// On the heap, because zlib keeps a pointer back to the structure and refuses to work once it has moved. Not Sendable:
/// whoever holds it says how its uses are kept apart.
struct ZStream: ~Copyable {
    enum Format {
        case gzip
        case zlib
        /// Deflate with neither header nor checksum.
        case raw

        /// zlib's code for the format, with the largest window.
        var windowBits: Int32 {
            switch self {
            case .gzip: 15 + 16
            case .zlib: 15
            case .raw: -15
            }
        }
    }

    /// What came of one call.
    struct Progress {
        var consumed: Int
        var produced: Int
        var code: Int32
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

    init(deflating format: Format, level: Int32) throws(InflateError) {
        stream = try Self.make { dunlin_deflate_init($0, level, format.windowBits) }
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

    /// Forgets what was inflated and begins anew; the tables stay.
    mutating func restart(_ format: Format) {
        inflateReset2(stream, format.windowBits)
    }

    /// Reads from `input`, writes to `output`, until one of them is used up or the stream ends.
    mutating func run(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, flush: Int32 = Z_NO_FLUSH
    ) -> Progress {
        // zlib counts in 32 bits: what goes beyond waits for the next call. It writes nothing to its input, though C
        // lets it.
        let given = UInt32(clamping: input.count)
        let room = UInt32(clamping: output.count)
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = given
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = room
        let code =
            switch direction {
            case .inflating: inflate(stream, flush)
            case .deflating: deflate(stream, flush)
            }
        return Progress(
            consumed: Int(given - stream.pointee.avail_in), produced: Int(room - stream.pointee.avail_out), code: code)
    }

    /// zlib's words for what is wrong with the input; constant text, never a part of it.
    var fault: String {
        stream.pointee.msg.map { String(cString: $0) } ?? "invalid data"
    }
}
