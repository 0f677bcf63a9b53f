/// Holds the chunks on their way to disk, and decides which to write next and when their reader must wait.
///
/// Rules:
/// 1. Chunks are written in order of arrival, one at a time, by the caller that `offer` told to begin.
/// 2. With more than `high` unwritten bytes, there is no room and the reader waits until there are at most `low`, so a
///    slow disk slows the peer instead of filling memory. The same applies above `most` chunks, until there are half as
///    many: the peer chooses their size, and each takes memory of its own.
/// 3. The first failure is final. Unwritten chunks are discarded, and waiters get the error.
///
/// It must not know files, threads or clocks.
struct WriterMachine<Piece, Waiter, Failure> {
    private enum State {
        case resting
        case writing
        case failed(Failure, isWriting: Bool)
    }

    private let high: Int
    private let low: Int
    private let most: Int
    private var state = State.resting
    private var pieces: [(piece: Piece, count: Int)] = []
    private var waiter: (waiter: Waiter, isForRest: Bool)?
    private(set) var unwritten = 0
    private(set) var written = 0

    init(high: Int, low: Int, most: Int = 256) {
        self.high = high
        self.low = low
        self.most = most
    }

    var failure: Failure? {
        if case .failed(let failure, _) = state { failure } else { nil }
    }

    var isFull: Bool { unwritten > high || pieces.count > most }

    private var hasRoom: Bool { unwritten <= low && pieces.count <= most / 2 }

    private var isWriting: Bool {
        switch state {
        case .resting, .failed(_, isWriting: false): false
        case .writing, .failed(_, isWriting: true): true
        }
    }

    /// Adds a chunk. Returns whether the caller must begin to write.
    mutating func offer(_ piece: Piece, _ count: Int) -> Bool {
        if failure != nil { return false }
        pieces.append((piece, count))
        unwritten += count
        guard case .resting = state else { return false }
        state = .writing
        return true
    }

    /// The chunk to write next; nil if there is none, which ends the writing.
    mutating func next() -> (piece: Piece?, waiter: Waiter?) {
        if failure == nil, !pieces.isEmpty { return (pieces.removeFirst().piece, nil) }
        if case .failed(let failure, _) = state { state = .failed(failure, isWriting: false) } else { state = .resting }
        return (nil, takeWaiter())
    }

    /// Notes that a chunk was written. Returns the waiter that may continue.
    mutating func wrote(_ count: Int) -> Waiter? {
        written += count
        // After a failure, the unwritten chunks were discarded while this one was being written.
        unwritten = max(0, unwritten - count)
        return takeWaiter()
    }

    mutating func fail(_ failure: Failure) -> Waiter? {
        if self.failure == nil { state = .failed(failure, isWriting: isWriting) }
        pieces = []
        unwritten = 0
        return takeWaiter()
    }

    /// Adds a waiter for room. Returns false if there is room already. Only one may wait at a time.
    mutating func waitForRoom(_ waiter: Waiter) -> Bool {
        guard failure == nil, isFull else { return false }
        self.waiter = (waiter, isForRest: false)
        return true
    }

    /// Adds a waiter for the end of all writing. Returns false if nothing is being written.
    mutating func waitForRest(_ waiter: Waiter) -> Bool {
        guard isWriting else { return false }
        self.waiter = (waiter, isForRest: true)
        return true
    }

    /// Ends the wait.
    mutating func leave() {
        waiter = nil
    }

    private mutating func takeWaiter() -> Waiter? {
        guard let (found, isForRest) = waiter else { return nil }
        guard isForRest ? !isWriting : hasRoom else { return nil }
        waiter = nil
        return found
    }
}
