public import DunlinTypes

/// Finds the body in the bytes after a head (RFC 9112 §6 and §7), without copying them.
///
/// It knows how many bytes of the body are left, and in which part of a chunk the next byte is. It must not know where
/// the bytes come from or whether anyone wants them.
///
/// Exactly CR LF must follow each chunk, and a stream that ends early is an error, never a shorter body. An upgraded
/// connection has no body: the reader is finished at once, and the following bytes belong to another protocol.
///
/// After an error the reader cannot be used.
public struct BodyReader: Sendable {
    private enum Part {
        case finished
        case counting(left: Int)
        case untilClose
        case chunkLine
        case chunkData(left: Int)
        case chunkCR
        case chunkLF
        case trailers
    }

    private var part: Part
    private var line: ChunkLine
    private var trailerReader: TrailerReader?
    private let limits: WireLimits

    public init(_ framing: BodyFraming, limits: WireLimits = WireLimits()) {
        self.limits = limits
        line = ChunkLine(limits: limits)
        part =
            switch framing {
            case .none, .upgrade, .length(...0): .finished
            case .length(let count): .counting(left: count)
            case .chunked: .chunkLine
            case .untilClose: .untilClose
            }
    }

    /// Whether the body is complete.
    package var isFinished: Bool {
        if case .finished = part { true } else { false }
    }

    /// The number of bytes left of a body with a known length; nil for any other.
    public var bytesLeft: Int? {
        if case .counting(let left) = part { left } else { nil }
    }

    /// The number of bytes that the peer must send before it may fall silent. For a body that ends with the stream it
    /// is unlimited, because the end of the stream counts too.
    public var certainBytes: Int {
        switch part {
        case .counting(let left), .chunkData(let left): left
        case .untilClose: .max
        default: 0
        }
    }

    /// Counts `count` bytes, at most `bytesLeft`, that were delivered without passing through here.
    public mutating func skip(_ count: Int) {
        guard case .counting(let left) = part else { return precondition(count == 0, "The length is not known.") }
        precondition(count >= 0 && count <= left)
        part = count == left ? .finished : .counting(left: left - count)
    }

    /// The trailer fields, once the body is complete, without fields that may not be trailers (see `TrailerReader`).
    public var trailers: Fields { trailerReader?.fields ?? Fields() }

    /// Returns the next piece of the body at or after `offset` in `input`.
    ///
    /// Call it until it returns `needMore`, then again with other input. After `end`, it returns `end` again.
    public mutating func next(in input: RawSpan, from offset: Int) throws(WireError) -> BodyStep {
        precondition(offset >= 0 && offset <= input.byteCount)
        return try input.withUnsafeBytes { bytes throws(WireError) in
            try next(in: bytes.assumingMemoryBound(to: UInt8.self), offset)
        }
    }

    /// Notes the end of the stream. Throws `truncatedBody`, unless the body is complete or ends with the stream.
    public mutating func endOfStream() throws(WireError) {
        switch part {
        case .finished, .untilClose: part = .finished
        default: throw .truncatedBody
        }
    }

    @inline(__always)
    private mutating func next(
        in bytes: UnsafeBufferPointer<UInt8>, _ offset: Int
    ) throws(WireError) -> BodyStep {
        switch part {
        case .finished:
            return .end(consumed: offset)
        case .untilClose:
            return offset < bytes.count ? .data(offset..<bytes.count) : .needMore
        case .counting(let left):
            guard offset < bytes.count else { return .needMore }
            let count = min(left, bytes.count &- offset)
            part = count == left ? .finished : .counting(left: left &- count)
            return .data(offset..<(offset &+ count))
        default:
            return try nextOfChunks(in: bytes, offset)
        }
    }

    private mutating func nextOfChunks(
        in bytes: UnsafeBufferPointer<UInt8>, _ offset: Int
    ) throws(WireError) -> BodyStep {
        var position = offset
        while position < bytes.count {
            switch part {
            case .chunkData(let left):
                let count = min(left, bytes.count &- position)
                part = count == left ? .chunkCR : .chunkData(left: left &- count)
                return .data(position..<(position &+ count))
            case .chunkCR:
                guard bytes[position] == Octets.cr else { throw .missingChunkEnd }
                part = .chunkLF
                position &+= 1
            case .chunkLF:
                guard bytes[position] == Octets.lf else { throw .missingChunkEnd }
                part = .chunkLine
                position &+= 1
            case .chunkLine:
                guard let size = try line.scan(bytes, &position) else { return .needMore }
                part = size == 0 ? .trailers : .chunkData(left: size)
            default:
                return try nextOfTrailers(in: bytes, position)
            }
        }
        return .needMore
    }

    private mutating func nextOfTrailers(
        in bytes: UnsafeBufferPointer<UInt8>, _ offset: Int
    ) throws(WireError) -> BodyStep {
        var reader = trailerReader ?? TrailerReader(limits: limits)
        trailerReader = nil
        defer { trailerReader = reader }
        guard let end = try reader.read(bytes, from: offset) else { return .needMore }
        part = .finished
        return .end(consumed: end)
    }
}
