package import DunlinTypes

/// Compresses the messages of a WebSocket connection (permessage-deflate, RFC 7692 §7.2.1).
///
/// Rules:
/// 1. A message ends at a byte, with an empty block, whose last four bytes are left out.
/// 2. An empty message is one byte (§7.2.3.6). zlib is not asked, because it writes nothing when nothing was added.
/// 3. A message refers to those before it, or to none.
///
/// It is not Sendable: its owner must keep its uses apart.
package struct MessageDeflater: ~Copyable {
    private static var room: Int { 8 * 1024 }

    private var stream: ZStream
    private let keepsContext: Bool
    /// Whether some of the current message has been compressed.
    private var hasBegun = false

    /// Creates a deflater for a window of 9 to 15 bits. zlib has no raw format for 8.
    package init(windowBits: Int, keepsContext: Bool, level: Int = 6) throws(InflateError) {
        precondition((9...15).contains(windowBits), "The window has 9 to 15 bits.")
        stream = try ZStream(deflating: .rawWindow(bits: windowBits), level: min(max(level, 0), 9))
        self.keepsContext = keepsContext
    }

    /// Compresses a piece of a message. Returns what is ready: often nothing, before the last piece.
    ///
    /// The output is at most a little larger than the pending input, so pass a large message in slices.
    package mutating func deflate(_ piece: Bytes, isLast: Bool) -> Bytes {
        hasBegun = hasBegun || !piece.isEmpty
        guard hasBegun else { return isLast ? Bytes([0x00]) : .empty }
        var output = run(piece, isLast ? .all : .none)
        if isLast {
            output.removeLast(MessageInflater.tail.count)
            if !keepsContext { stream.forget() }
            hasBegun = false
        }
        return Bytes(output)
    }

    private mutating func run(_ input: Bytes, _ flush: EncodingFlush) -> [UInt8] {
        var output: [UInt8] = []
        var offset = 0
        var isFull = true
        // If the room was not filled, nothing more is ready.
        while isFull || offset < input.count {
            output.append(addingCapacity: Self.room) { span in
                span.withUnsafeMutableBufferPointer { buffer, count in
                    let progress = input.withUnsafeBytes { bytes in
                        stream.deflate(
                            UnsafeRawBufferPointer(rebasing: bytes[offset...]),
                            into: UnsafeMutableBufferPointer(rebasing: buffer[count...]), flush)
                    }
                    offset += progress.consumed
                    count += progress.produced
                    isFull = progress.produced > 0 && count == buffer.count
                }
            }
        }
        return output
    }
}
