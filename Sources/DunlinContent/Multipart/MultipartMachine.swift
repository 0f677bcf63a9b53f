/// A multipart form (RFC 7578, RFC 2046 §5.1) as a sequence of runs of bytes.
///
/// The first part begins with `--B`, others with a line break before it; the form ends with `--B--` and a line break.
/// All of that, the parts' fields and bytes that are in memory come as `.give`. If a part's bytes come from elsewhere,
/// the machine says when to open it and when to read, and checks the announced length; for a part that is sent without
/// being read, call `passed`. The machine knows neither files nor clocks. It gives pieces of at most `pieceSize` bytes,
/// cut anywhere.
struct MultipartMachine {
    enum Run: Equatable {
        case bytes(Bytes)
        /// The bytes of a part, by its index in the form; nil for a length that only its end will tell.
        case part(Int, length: Int?)
    }

    enum Action: Equatable {
        case give(Bytes)
        /// Open this part: the following reads are from its beginning.
        case open(part: Int)
        /// Read more of the part opened last, and call `took`, with nil at its end.
        case read
        case end
    }

    enum Violation: Error, Equatable {
        case tooShort(part: Int, missing: Int)
        case tooLong(part: Int)
    }

    private enum State {
        case giving(from: Int)
        case closed
        case reading(left: Int?)
    }

    private let runs: [Run]
    private let pieceSize: Int
    private var position = 0
    private var state: State
    /// Bytes that were read but not given yet.
    private var pending = Bytes.empty

    init(_ runs: [Run], pieceSize: Int = 64 * 1024) {
        self.runs = runs
        self.pieceSize = max(1, pieceSize)
        state = Self.beginning(of: runs.first)
    }

    private static func beginning(of run: Run?) -> State {
        if case .bytes = run { .giving(from: 0) } else { .closed }
    }

    private mutating func advance() {
        position += 1
        state = Self.beginning(of: position < runs.count ? runs[position] : nil)
    }

    mutating func next() -> Action {
        if !pending.isEmpty {
            let piece = pending[0..<min(pieceSize, pending.count)]
            pending = pending[piece.count..<pending.count]
            return .give(piece)
        }
        guard position < runs.count else { return .end }
        switch (runs[position], state) {
        case (.bytes(let bytes), .giving(let start)):
            let end = start + min(pieceSize, bytes.count - start)
            if end == bytes.count { advance() } else { state = .giving(from: end) }
            return .give(bytes[start..<end])
        case (.part(let part, let length), .closed):
            state = .reading(left: length)
            return .open(part: part)
        default: return .read
        }
    }

    /// Takes bytes of the part; nil at its end.
    mutating func took(_ bytes: Bytes?) throws(Violation) {
        guard position < runs.count, case .part(let part, _) = runs[position], case .reading(let left) = state else {
            return
        }
        guard let bytes else {
            if let left, left > 0 { throw .tooShort(part: part, missing: left) }
            advance()
            return
        }
        if let left {
            if bytes.count > left { throw .tooLong(part: part) }
            state = .reading(left: left - bytes.count)
        }
        pending = bytes
    }

    /// Counts a whole part of `count` bytes that was sent without being read.
    mutating func passed(_ count: Int) throws(Violation) {
        guard position < runs.count, case .part(let part, _) = runs[position], case .reading(let left) = state else {
            return
        }
        if let left, count > left { throw .tooLong(part: part) }
        state = .reading(left: left.map { $0 - count })
        try took(nil)
    }
}
