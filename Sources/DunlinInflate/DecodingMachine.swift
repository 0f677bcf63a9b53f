internal import DunlinTypes

/// Undoes one coding.
///
/// Rules:
/// 1. Input goes in a piece at a time; output comes out a piece at a time and only when it is asked for.
/// 2. However the input is cut, the same bytes come out, and then the same error: what precedes a fault is handed out
///    first. (Whether the ratio of a whole decoder is exceeded is not decided here.)
/// 3. What begins with which byte is for the engine to say: it is shown the first, and asked about one that follows
///    what may be the end.
/// 4. After the end only zeros may follow: padding, which some writers leave. Anything else is an error.
///
/// Must not know: what other codings there are, which one this is, and where the bytes come from.
struct DecodingMachine<Engine: DecodingEngine & ~Copyable>: ~Copyable {
    private enum Part {
        case start
        case within
        /// It may be over, or go on.
        case between
        case padding
        case failed(InflateError)
    }

    /// The least room that the engine is given.
    private static var smallestPiece: Int { 512 }
    /// How much text is expected of compressed input: room for it all, seldom room for nothing.
    private static var expectedRatio: Int { 4 }

    private let limits: InflateLimits
    private var engine: Engine
    private var part = Part.start
    private var input = Bytes.empty
    private var offset = 0
    /// The engine filled the last piece to the brim and may hold more, even without input.
    private var mayHoldMore = false
    private(set) var consumed = 0
    private(set) var produced = 0

    init(limits: InflateLimits) throws(InflateError) {
        self.limits = limits
        engine = try Engine()
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
                engine.begin(with: input[offset])
                part = .within
            case .within:
                guard offset < input.count || mayHoldMore else { return nil }
                if let piece = decode() { return piece }
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
        if engine.goesOn(with: byte) {
            part = .within
        } else {
            part = byte == 0 ? .padding : .failed(.trailingData)
        }
    }

    private mutating func decode() -> Bytes? {
        let capacity = nextCapacity
        var progress = CodingProgress(consumed: 0, produced: 0)
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { room, count in
            progress = input.withUnsafeBytes { bytes in
                engine.decode(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: room)
            }
            count = progress.produced
        }
        offset += progress.consumed
        consumed += progress.consumed
        mayHoldMore = progress.produced == capacity
        note(progress.outcome)
        return admit(output)
    }

    private var nextCapacity: Int {
        let expected = (input.count - offset).multipliedReportingOverflow(by: Self.expectedRatio)
        let wanted = min(limits.pieceSize, expected.overflow ? .max : max(expected.partialValue, Self.smallestPiece))
        // When all that is allowed has come, one byte of room shows whether there is more.
        return max(1, min(wanted, limits.decodedBytes.map { $0 - produced } ?? .max))
    }

    private mutating func note(_ outcome: CodingProgress.Outcome) {
        switch outcome {
        case .more: break
        case .ended:
            part = .between
            mayHoldMore = false
        case .failed(let error): part = .failed(error)
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
