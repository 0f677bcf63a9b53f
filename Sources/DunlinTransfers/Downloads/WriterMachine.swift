/// Keeps the chunks on their way to a disk: which is to be written, and when the reader that brings them must wait.
///
/// Rules:
/// 1. Chunks are written in the order in which they came, one at a time, by whoever `offer` told to begin.
/// 2. With more than `high` bytes unwritten there is no room, and the reader waits until no more than `low` are: a slow
///    disk holds up the peer instead of filling memory. The same is true of more than `most` chunks and half as many,
///    for the peer says how small they are, and each takes memory of its own.
/// 3. The first failure stays. Chunks that were still to be written are discarded, and those who wait get the error.
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

    /// The chunk to write next; nil if there is none, and the writer is done.
    mutating func next() -> (piece: Piece?, waiter: Waiter?) {
        if failure == nil, !pieces.isEmpty { return (pieces.removeFirst().piece, nil) }
        if case .failed(let failure, _) = state { state = .failed(failure, isWriting: false) } else { state = .resting }
        return (nil, takeWaiter())
    }

    /// A chunk has been written. Returns the waiter that may go on.
    mutating func wrote(_ count: Int) -> Waiter? {
        written += count
        // Unwritten chunks are discarded after a failure, while this one was underway.
        unwritten = max(0, unwritten - count)
        return takeWaiter()
    }

    mutating func fail(_ failure: Failure) -> Waiter? {
        if self.failure == nil { state = .failed(failure, isWriting: isWriting) }
        pieces = []
        unwritten = 0
        return takeWaiter()
    }

    /// False if there is nothing to wait for. One may wait at a time.
    mutating func waitForRoom(_ waiter: Waiter) -> Bool {
        guard failure == nil, isFull else { return false }
        self.waiter = (waiter, isForRest: false)
        return true
    }

    /// Waits until nobody writes any more; false if there is nothing to wait for.
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
