internal import DunlinTypes

/// Keeps who waits for a descriptor, for what, and until when.
///
/// Rules:
/// 1. Readiness is an edge: it is reported once. An edge that finds nobody waiting is kept until the next wait. The end
///    of input is reported once too, perhaps together with the last bytes, but it stays: from then on a wait for input
///    returns at once.
/// 2. There is at most one waiter for each direction; a second is a mistake of the caller and is refused.
/// 3. Waits belong to a turn. Between turns nobody may wait, and an edge is announced at once. A cancel names the turn
///    it means, so one that comes late has no effect.
/// 4. A closed channel stays closed, and a cancelled one cancelled until the next turn: every later wait returns at
///    once.
/// 5. The machine reads no clock. Deadlines are compared when it is told the time. `checkAt` is when the loop will look
///    next, and only a deadline before that has to be told to the loop.
/// 6. A turn begins only if no input is known to be unread and somebody has looked a moment ago (`freshness`). Edges
///    are only what the loop has collected, and a loop that computes collects nothing: bytes that came meanwhile would
///    be taken for the answer to a request that was not sent yet. Three things are a look: the last owner's read, if it
///    left nothing; the loop's poll, once all that it reported has been passed on; and a peek at the socket. Where
///    none is fresh, the loop polls: that serves all requests that begin within the next moment. A peek is made where
///    an edge is known, or the loop cannot tell. What the kernel had at that look is never an answer. What comes after
///    the look cannot be told from an answer, like anything that the peer sends before a request reaches it. The
///    allowance is of the order of that way, so it adds little to what a peer could do anyhow. Without it each request
///    that follows an answer at once would peek at what it has just read empty.
struct ChannelMachine<Waiter> {
    enum Direction {
        case reading
        case writing
    }

    enum Side {
        case quiet
        case ready
        case waiting(Waiter, until: HTTP.Instant)
        /// Writing has ended for this turn.
        case stopped
    }

    enum Life: Equatable {
        case between
        case open
        case cancelled
        case closed
    }

    enum WaitAction {
        case waiting
        /// It waits, and the loop must look at this channel by then.
        case waitingAndScheduled(HTTP.Instant)
        case resume(Waiter, Wake)
    }

    /// The waiters to wake; both directions can end at once.
    struct Wakes {
        var reading: Waiter?
        var writing: Waiter?
        /// Whether input, or its end, came between turns.
        var isUnsolicited = false
    }

    enum Begin: Equatable {
        case turn(UInt64)
        /// Input has come while nobody owned the channel: look at it before using it.
        case unseenInput
        /// Nobody has looked a moment ago, so input may have come: look before using it.
        case unlooked
        case closed
    }

    struct Expiry {
        var wakes: Wakes
        /// When to look again.
        var next: HTTP.Instant
    }

    /// With `inTurn` its first turn begins at once: what comes before anybody waits is for its owner.
    init(inTurn: Bool = false) {
        guard inTurn else { return }
        _ = beginTurn(lastLook: HTTP.Instant(nanoseconds: 0), at: HTTP.Instant(nanoseconds: 0))
    }

    /// Nanoseconds for which a look counts. From an answer's last byte to the next request there are a few thousand.
    static var freshness: Int64 { 50_000 }

    private var reading = Side.quiet
    private var life = Life.between
    /// Whether the peer has ended its side, or the connection failed: a read says which.
    private(set) var inputHasEnded = false
    private var turn: UInt64 = 0
    private var checkAt = HTTP.Instant.never
    /// Whether the next wait for input in this turn ends at once.
    private var readerIsToWake = false
    private var writing = Side.quiet

    /// Begins a turn for a new owner: cancels meant for the last one are forgotten. `.unseenInput` and `.unlooked`
    /// begin nothing; a caller who has looked since passes that as the last look.
    mutating func beginTurn(lastLook: HTTP.Instant, at now: HTTP.Instant) -> Begin {
        if life == .closed { return .closed }
        if hasUnseenInput { return .unseenInput }
        if now > lastLook.advanced(by: Self.freshness) { return .unlooked }
        life = .open
        writing = .quiet
        readerIsToWake = false
        turn += 1
        return .turn(turn)
    }

    /// Ends the owner's turn; false if something has come already that nobody asked for, or the channel is closed.
    mutating func endTurn() -> Bool {
        if life == .closed { return false }
        life = .between
        return !hasUnseenInput
    }

    private var hasUnseenInput: Bool {
        if case .ready = reading { return true }
        return inputHasEnded
    }

    /// Somebody is about to look: what comes from now on is kept again.
    mutating func clearUnseenInput() {
        if case .ready = reading { reading = .quiet }
        inputHasEnded = false
    }

    /// Keeps input as unseen, after a look found some.
    mutating func keepUnseenInput() {
        if case .quiet = reading { reading = .ready }
    }

    mutating func wait(_ waiter: Waiter, for direction: Direction, until deadline: HTTP.Instant) -> WaitAction {
        switch life {
        case .closed: return .resume(waiter, .closed)
        case .cancelled: return .resume(waiter, .cancelled)
        case .open, .between: break
        }
        switch self[direction] {
        case .ready:
            self[direction] = .quiet
            return .resume(waiter, .ready)
        case .waiting:
            return .resume(waiter, .busy)
        case .stopped:
            return .resume(waiter, .cancelled)
        case .quiet where direction == .reading && inputHasEnded:
            return .resume(waiter, .ready)
        case .quiet where direction == .reading && readerIsToWake:
            readerIsToWake = false
            return .resume(waiter, .woken)
        case .quiet:
            self[direction] = .waiting(waiter, until: deadline)
            guard bringForward(to: deadline) else { return .waiting }
            return .waitingAndScheduled(deadline)
        }
    }

    /// Ends the wait for input, or the next one of this turn.
    mutating func wakeReader() -> Waiter? {
        guard life == .open else { return nil }
        let waiter = take(.reading)
        readerIsToWake = waiter == nil
        return waiter
    }

    mutating func becameReady(reading: Bool, writing: Bool, inputEnded: Bool = false) -> Wakes {
        var wakes = Wakes()
        if inputEnded { inputHasEnded = true }
        if reading { wakes.reading = edge(.reading) }
        wakes.isUnsolicited = reading && life == .between
        if writing { wakes.writing = edge(.writing) }
        return wakes
    }

    /// Ends writing in this turn.
    mutating func stopWriting() -> Waiter? {
        let waiter = take(.writing)
        writing = .stopped
        return waiter
    }

    mutating func cancel(turn meant: UInt64) -> Wakes {
        guard life == .open, meant == turn else { return Wakes() }
        life = .cancelled
        return takeAll()
    }

    mutating func close() -> Wakes {
        life = .closed
        return takeAll()
    }

    var hasDeadline: Bool { min(deadline(.reading), deadline(.writing)) < .never }

    /// Wakes those whose deadline has passed; says when to look again.
    mutating func deadlinePassed(at now: HTTP.Instant) -> Expiry {
        let wakes = Wakes(reading: expire(.reading, now), writing: expire(.writing, now))
        checkAt = min(deadline(.reading), deadline(.writing))
        return Expiry(wakes: wakes, next: checkAt)
    }
}

extension ChannelMachine {
    private subscript(direction: Direction) -> Side {
        get { direction == .reading ? reading : writing }
        set {
            switch direction {
            case .reading: reading = newValue
            case .writing: writing = newValue
            }
        }
    }

    private mutating func bringForward(to deadline: HTTP.Instant) -> Bool {
        guard deadline < checkAt else { return false }
        checkAt = deadline
        return true
    }

    private mutating func edge(_ direction: Direction) -> Waiter? {
        switch self[direction] {
        case .waiting(let waiter, _):
            self[direction] = .quiet
            return waiter
        case .quiet, .ready:
            self[direction] = .ready
            return nil
        case .stopped:
            return nil
        }
    }

    private mutating func takeAll() -> Wakes {
        Wakes(reading: take(.reading), writing: take(.writing))
    }

    private mutating func take(_ direction: Direction) -> Waiter? {
        guard case .waiting(let waiter, _) = self[direction] else { return nil }
        self[direction] = .quiet
        return waiter
    }

    private mutating func expire(_ direction: Direction, _ now: HTTP.Instant) -> Waiter? {
        deadline(direction) <= now ? take(direction) : nil
    }

    private func deadline(_ direction: Direction) -> HTTP.Instant {
        if case .waiting(_, let deadline) = self[direction] { deadline } else { .never }
    }
}
