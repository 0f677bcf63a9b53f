internal import CZlib
public import DunlinTypes
internal import Synchronization

/// Compresses one body, as its pieces come.
///
/// The output depends on the input, the coding and the level only: a gzip header has neither time nor name. How the
/// input is cut makes no difference to it.
public struct ContentEncoder: ~Copyable, Sendable {
    /// The lock is never contended; it makes zlib's pointer fit to travel (see `ContentDecoder`).
    private let stream: Mutex<ZStream>

    /// How much room zlib is given at a time.
    private static let room = 8 * 1024

    /// `level` from 1, the fastest, to 9, the smallest; 0 stores. What lies outside is moved to the nearest.
    public init(_ coding: ContentCoding, level: Int = 6) throws(InflateError) {
        let level = Int32(min(max(level, 0), 9))
        stream = Mutex(try ZStream(deflating: coding == .gzip ? .gzip : .zlib, level: level))
    }

    /// Takes in a piece. What is ready to be sent, often nothing: zlib collects before it decides.
    ///
    /// The output is at most a little larger than what has been taken in and not yet given out, so a body that is large
    /// and in memory is better passed by slices.
    public mutating func encode(_ piece: Bytes) -> Bytes {
        stream.withLock { Self.run(&$0, piece, Z_NO_FLUSH) }
    }

    /// All that has been taken in and not yet been given out, in a form that the other side can decode at once. It
    /// costs a few bytes each time, and the output then depends on when it was done.
    public mutating func flush() -> Bytes {
        stream.withLock { Self.run(&$0, .empty, Z_SYNC_FLUSH) }
    }

    /// All that is left, and the end. Even an empty body has a few bytes.
    public consuming func finish() -> Bytes {
        stream.withLock { Self.run(&$0, .empty, Z_FINISH) }
    }

    private static func run(_ stream: inout ZStream, _ input: Bytes, _ flush: Int32) -> Bytes {
        var output: [UInt8] = []
        var offset = 0
        var isFull = true
        // A room that was not filled means that zlib has nothing more to give.
        while isFull || offset < input.count {
            output.append(addingCapacity: room) { span in
                span.withUnsafeMutableBufferPointer { buffer, count in
                    let progress = input.withUnsafeBytes { bytes in
                        stream.run(
                            UnsafeRawBufferPointer(rebasing: bytes[offset...]),
                            into: UnsafeMutableBufferPointer(rebasing: buffer[count...]), flush: flush)
                    }
                    offset += progress.consumed
                    count += progress.produced
                    isFull = progress.produced > 0 && count == buffer.count
                }
            }
        }
        return Bytes(output)
    }
}
