internal import CZlib
internal import DunlinTypes

/// Undoes one coding (RFC 1950, 1951, 1952).
///
/// Rules:
/// 1. Input goes in a piece at a time; output comes out a piece at a time and only when it is asked for.
/// 2. However the input is cut, the same bytes come out, and then the same error: what precedes a fault is handed out
///    first. (Whether the ratio of a whole decoder is exceeded is not decided here.)
/// 3. gzip: members follow each other without a gap and their contents are joined. zlib checks header, CRC and length.
/// 4. deflate: the first byte tells the two formats apart. zlib's has 8 in its low half; in raw deflate that would be a
///    stored block with padding other than zeros, which no encoder writes.
/// 5. After the end only zeros may follow: padding, which some writers leave. Anything else is an error.
///
/// Must not know: what other codings there are, and where the bytes come from.
struct InflateMachine: ~Copyable {
    private enum Part {
        case start
        case within
        /// A stream has ended; in gzip there may be another.
        case between
        case padding
        case failed(InflateError)
    }

    /// The least room that zlib is given.
    private static let smallestPiece = 512
    /// How much text is expected of compressed input: room for it all, seldom room for nothing.
    private static let expectedRatio = 4

    private let coding: ContentCoding
    private let limits: InflateLimits
    private var stream: ZStream
    private var part = Part.start
    private var input = Bytes.empty
    private var offset = 0
    /// zlib filled the last piece to the brim and may hold more, even without input.
    private var mayHoldMore = false
    private(set) var consumed = 0
    private(set) var produced = 0

    init(_ coding: ContentCoding, limits: InflateLimits) throws(InflateError) {
        self.coding = coding
        self.limits = limits
        stream = try ZStream(inflating: coding == .gzip ? .gzip : .zlib)
    }

    /// The next input. Only once `next()` has returned nil.
    mutating func feed(_ piece: Bytes) {
        precondition(offset == input.count && !mayHoldMore, "There is still input to decode.")
        input = piece
        offset = 0
    }

    /// The next piece of output, never empty; nil when more input is needed, or may come.
    mutating func next() throws(InflateError) -> Bytes? {
        while true {
            switch part {
            case .failed(let error): throw error
            case .start:
                guard offset < input.count else { return nil }
                if coding == .deflate, input[offset] & 0x0F != 8 { stream.restart(.raw) }
                part = .within
            case .within:
                guard offset < input.count || mayHoldMore else { return nil }
                if let piece = inflate() { return piece }
            case .between:
                guard offset < input.count else { return nil }
                goOn(with: input[offset])
            case .padding:
                guard input[offset...].allSatisfy({ $0 == 0 }) else {
                    part = .failed(.trailingData)
                    continue
                }
                consumed += input.count - offset
                offset = input.count
                return nil
            }
        }
    }

    /// No more input will come. Throws unless the last stream is complete.
    func finish() throws(InflateError) {
        switch part {
        case .between, .padding: return
        case .start, .within: throw .truncated
        case .failed(let error): throw error
        }
    }

    private mutating func goOn(with byte: UInt8) {
        switch byte {
        case 0: part = .padding
        // How a gzip member begins. zlib looks at the rest of its header.
        case 0x1F where coding == .gzip:
            stream.restart(.gzip)
            part = .within
        default: part = .failed(.trailingData)
        }
    }

    private mutating func inflate() -> Bytes? {
        let capacity = nextCapacity
        var progress = ZStream.Progress(consumed: 0, produced: 0, code: Z_OK)
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { room, count in
            progress = input.withUnsafeBytes { bytes in
                stream.run(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: room)
            }
            count = progress.produced
        }
        offset += progress.consumed
        consumed += progress.consumed
        mayHoldMore = progress.produced == capacity
        note(progress.code)
        return admit(output)
    }

    private var nextCapacity: Int {
        let expected = (input.count - offset).multipliedReportingOverflow(by: Self.expectedRatio)
        let wanted = min(limits.pieceSize, expected.overflow ? .max : max(expected.partialValue, Self.smallestPiece))
        // When all that is allowed has come, one byte of room shows whether there is more.
        return max(1, min(wanted, limits.decodedBytes.map { $0 - produced } ?? .max))
    }

    private mutating func note(_ code: Int32) {
        switch code {
        // Z_BUF_ERROR: it could do nothing, having been asked only in case it held something.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END:
            part = .between
            mayHoldMore = false
        case Z_NEED_DICT: part = .failed(.corrupt("a preset dictionary is required"))
        case Z_MEM_ERROR: part = .failed(.outOfMemory)
        default: part = .failed(.corrupt(stream.fault))
        }
    }

    private mutating func admit(_ output: [UInt8]) -> Bytes? {
        produced += output.count
        if let limit = limits.decodedBytes, produced > limit {
            part = .failed(.sizeExceeded(limit: limit))
            return nil
        }
        return output.isEmpty ? nil : Bytes(output)
    }
}
