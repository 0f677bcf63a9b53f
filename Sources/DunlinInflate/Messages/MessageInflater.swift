package import DunlinTypes

/// Decompresses the messages of a WebSocket connection (permessage-deflate, RFC 7692 §7.2.2).
///
/// Rules:
/// 1. Messages come in pieces, and output is made only on demand, in pieces of bounded size. However a message is cut,
///    the output is the same, and then the error.
/// 2. The sender left out four bytes at the end of the message; they are added. Then the message must consist of whole
///    blocks. It may also end with a block that is marked as the last, after which nothing is added.
/// 3. After a block that is marked as the last, another may follow. It may refer to the output before it.
/// 4. The size of a message is limited while it is decompressed. An error ends the connection, since the context is
///    lost.
/// 5. A message refers to those before it, or to none.
///
/// It is not Sendable: its owner must keep its uses apart.
package struct MessageInflater: ~Copyable {
    private enum Part {
        /// A message is arriving. The content is the current piece, and whether it is the last.
        case message(isLast: Bool)
        /// The bytes that the sender left out.
        case tail
        case failed(InflateError)
    }

    /// The bytes that the sender left out: the end of an empty block.
    static let tail = Bytes([0x00, 0x00, 0xFF, 0xFF])
    private static var smallestPiece: Int { 512 }
    private static var largestPiece: Int { 64 * 1024 }
    /// The expected ratio of output to input, for choosing the room.
    private static var expectedRatio: Int { 4 }

    private var stream: ZStream
    private let keepsContext: Bool
    private let limit: Int?
    private var part = Part.message(isLast: false)
    private var input = Bytes.empty
    private var offset = 0
    private var produced = 0
    /// Whether the last output was full, so that there may be more without input.
    private var mayHoldMore = false
    /// Whether a block that is marked as the last has ended, and nothing has followed.
    private var hasEnded = false

    /// Creates an inflater for a window of 8 to 15 bits, and messages of at most `limit` bytes.
    package init(windowBits: Int, keepsContext: Bool, limit: Int?) throws(InflateError) {
        stream = try ZStream(inflating: .rawWindow(bits: windowBits))
        self.keepsContext = keepsContext
        self.limit = limit
    }

    /// Feeds the next piece of a message. Call it only after `next()` has returned nil.
    package mutating func feed(_ piece: Bytes, isLast: Bool) {
        if case .failed = part { return }
        precondition(offset == input.count && !mayHoldMore, "There is still input to decompress.")
        input = piece
        offset = 0
        part = .message(isLast: isLast)
    }

    /// Returns the next output of the current message, never empty; nil if the piece is used up. After the last piece,
    /// the message is then complete.
    package mutating func next() throws(InflateError) -> Bytes? {
        while true {
            switch part {
            case .failed(let error): throw error
            case .message(let isLast):
                if let output = try take() { return output }
                guard isLast else { return nil }
                // Nothing is to follow a block that is marked as the last.
                if hasEnded { return finish() }
                (input, offset, part) = (Self.tail, 0, .tail)
            case .tail:
                if let output = try take() { return output }
                guard stream.isBetweenBlocks else { try fail(.truncated) }
                return finish()
            }
        }
    }

    /// Ends a message. Returns nil, as there is no more output.
    private mutating func finish() -> Bytes? {
        if hasEnded { stream.goOnAfterEnd() }
        if !keepsContext { stream.forget() }
        hasEnded = false
        produced = 0
        (input, offset, part) = (.empty, 0, .message(isLast: false))
        return nil
    }

    private mutating func fail(_ error: InflateError) throws(InflateError) -> Never {
        part = .failed(error)
        throw error
    }

    /// Decompresses from the current input; nil if it is used up.
    private mutating func take() throws(InflateError) -> Bytes? {
        while offset < input.count || mayHoldMore {
            if hasEnded {
                stream.goOnAfterEnd()
                hasEnded = false
            }
            if let output = try decompress() { return output }
        }
        return nil
    }

    private mutating func decompress() throws(InflateError) -> Bytes? {
        let room = nextRoom
        var progress = CodingProgress(consumed: 0, produced: 0)
        let output = [UInt8](unsafeUninitializedCapacity: room) { room, count in
            progress = input.withUnsafeBytes { bytes in
                stream.inflate(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: room)
            }
            count = progress.produced
        }
        offset += progress.consumed
        produced += progress.produced
        mayHoldMore = progress.produced == room
        if let limit, produced > limit { try fail(.sizeExceeded(limit: limit)) }
        switch progress.outcome {
        case .more: break
        case .ended: (hasEnded, mayHoldMore) = (true, false)
        case .failed(let error):
            part = .failed(error)
            if output.isEmpty { throw error }
        }
        return output.isEmpty ? nil : Bytes(output)
    }

    private var nextRoom: Int {
        let expected = (input.count - offset).multipliedReportingOverflow(by: Self.expectedRatio)
        let wanted = min(
            Self.largestPiece, expected.overflow ? .max : max(expected.partialValue, Self.smallestPiece))
        // When the limit is reached, one byte of room shows whether there is more.
        return max(1, min(wanted, limit.map { $0 - produced } ?? .max))
    }
}
