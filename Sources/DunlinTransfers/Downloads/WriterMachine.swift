/// Pieces on their way to a disk: what is to be written, and when whoever brings them must wait.
///
/// Rules:
/// 1. Pieces are written in the order in which they came, one at a time, by whoever `offer` told to begin.
/// 2. With more than `high` bytes unwritten there is no room, and whoever brings more waits until no more than `low`
///    are: a slow disk holds up the peer instead of filling memory.
/// 3. The first failure stays. What was still to be written is forgotten, and whoever waits hears of it.
///
/// Must not know: files, threads, clocks.
struct WriterMachine<Piece, Waiter, Failure> {
    private enum State {
        case resting
        case writing
        case failed(Failure, isWriting: Bool)
    }

    private let high: Int
    private let low: Int
    private var state = State.resting
    private var pieces: [(piece: Piece, count: Int)] = []
    private var waiter: (waiter: Waiter, bytes: Int)?
    private(set) var unwritten = 0
    private(set) var written = 0

    init(high: Int, low: Int) {
        self.high = high
        self.low = low
    }

    var failure: Failure? {
        if case .failed(let failure, _) = state { failure } else { nil }
    }

    var isFull: Bool { unwritten > high }

    private var isWriting: Bool {
        switch state {
        case .resting, .failed(_, isWriting: false): false
        case .writing, .failed(_, isWriting: true): true
        }
    }

    /// Whether somebody must begin to write.
    mutating func offer(_ piece: Piece, _ count: Int) -> Bool {
        if failure != nil { return false }
        pieces.append((piece, count))
        unwritten += count
        guard case .resting = state else { return false }
        state = .writing
        return true
    }

    /// What to write next; nil: no more, and whoever wrote is done.
    mutating func next() -> (piece: Piece?, waiter: Waiter?) {
        if failure == nil, !pieces.isEmpty { return (pieces.removeFirst().piece, nil) }
        if case .failed(let failure, _) = state { state = .failed(failure, isWriting: false) } else { state = .resting }
        return (nil, takeWaiter())
    }

    /// The piece that was to be written is; whoever may go on.
    mutating func wrote(_ count: Int) -> Waiter? {
        written += count
        // What was unwritten is forgotten after a failure, and this piece was underway then.
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
        self.waiter = (waiter, low)
        return true
    }

    /// The same until nobody writes any more.
    mutating func waitForRest(_ waiter: Waiter) -> Bool {
        guard isWriting else { return false }
        self.waiter = (waiter, -1)
        return true
    }

    /// Who waited does so no more.
    mutating func leave() {
        waiter = nil
    }

    private mutating func takeWaiter() -> Waiter? {
        guard let (found, bytes) = waiter else { return nil }
        guard bytes < 0 ? !isWriting : unwritten <= bytes else { return nil }
        waiter = nil
        return found
    }
}
