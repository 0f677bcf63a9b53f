internal import DunlinTypes

/// Decodes one coding.
///
/// Rules:
/// 1. Input and output are processed piece by piece, output only on demand.
/// 2. However the input is cut, the output is the same, and then the error: output before an error is delivered first.
///    (The ratio of a whole decoder is not checked here.)
/// 3. The engine decides what begins with a byte: it gets the first, and is asked about one that follows a possible
///    end.
/// 4. Only zeros may follow the end, which some writers add as padding. Anything else is an error.
///
/// It must not know other codings, which one this is, or where the bytes come from.
struct DecodingMachine<Engine: DecodingEngine & ~Copyable>: ~Copyable {
    private enum Part {
        case start
        case within
        /// The data may be complete, or continue.
        case between
        case padding
        case failed(InflateError)
    }

    /// The least room that the engine is given.
    private static var smallestPiece: Int { 512 }
    /// The expected ratio of output to input, for choosing the room.
    private static var expectedRatio: Int { 4 }

    private let limits: InflateLimits
    private var engine: Engine
    private var part = Part.start
    private var input = Bytes.empty
    private var offset = 0
    /// Whether the engine filled the last piece and may have more, even without input.
    private var mayHoldMore = false
    private(set) var consumed = 0
    private(set) var produced = 0

    init(limits: InflateLimits) throws(InflateError) {
        self.limits = limits
        engine = try Engine()
    }

    /// Feeds the next input. Call it only after `next()` has returned nil.
    mutating func feed(_ piece: Bytes) {
        precondition(offset == input.count && !mayHoldMore, "There is still input to decode.")
        input = piece
        offset = 0
    }

    /// Returns the next piece of output, never empty; nil if more input is needed or may come.
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

    /// Finishes the input. Throws unless the last stream is complete.
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
        // When the limit is reached, one byte of room shows whether there is more.
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
