public import DunlinReactor
public import DunlinTypes
internal import Synchronization

/// What those who look after one request share with its exchange: whether it may go on, and how far it has come.
///
/// A request that nobody watches has none. The exchange writes the tally as bytes move and stands still, before it
/// takes more from the socket or gives more to it, while the watch holds it; whoever wants to know how far things are
/// asks. Nobody is called back.
public final class TransferWatch: Sendable {
    private struct State {
        var hold = HoldMachine<Parking<Void>>()
        var standing: Standing.State
        var followers: [any TallyFollower] = []
    }

    private let reactor: Reactor
    private let state: Mutex<State>
    private let book: Bulletin<Tally>
    /// What this is a part of, which is held for it and counts for it.
    private let whole: TransferWatch?

    public init(on reactor: Reactor, priority: RequestPriority = .normal) {
        self.reactor = reactor
        whole = nil
        state = Mutex(State(standing: Standing.State(priority: priority)))
        book = Bulletin(Tally(), on: reactor)
    }

    /// For one of several exchanges of a request. It stands in line for itself, with the priority of the
    /// whole, and is held as that is.
    public init(partOf whole: TransferWatch) {
        self.whole = whole
        reactor = whole.reactor
        state = Mutex(State(standing: Standing.State(priority: .normal)))
        book = Bulletin(Tally(), on: reactor)
        whole.standing.add(self)
    }

    public var standing: Standing { Standing(watch: self) }

    func withStanding<Value: Sendable>(_ body: (inout Standing.State) -> Value) -> Value {
        state.withLock { body(&$0.standing) }
    }

    public func now() -> MonotonicTime { reactor.now() }
}

// MARK: - Holding

extension TransferWatch {
    public var isHeld: Bool { whole?.isHeld ?? state.withLock { $0.hold.isHeld } }

    /// Nanoseconds for which the transfer was held from `time` on.
    func heldTime(since time: MonotonicTime) -> Int64 {
        if let whole { return whole.heldTime(since: time) }
        if state.withLock({ $0.hold.isUntouched }) { return 0 }
        let now = reactor.now()
        return state.withLock { $0.hold.heldTime(since: time, at: now) }
    }

    /// Whether that changed anything: nothing is held twice, or once it is over.
    public func suspend() -> Bool {
        let now = reactor.now()
        guard state.withLock({ $0.hold.hold(at: now) }) else { return false }
        standing.stepAside()
        for observer in state.withLock({ $0.hold.takeObservers() }) { _ = observer.deliver(()) }
        return true
    }

    /// Whether that changed anything.
    public func resume() -> Bool {
        let now = reactor.now()
        guard let waiters = state.withLock({ $0.hold.release(at: now) }) else { return false }
        for waiter in waiters { _ = waiter.deliver(()) }
        return true
    }

    /// The request is being cancelled: what is held goes on, to find that out.
    public func stop() {
        let now = reactor.now()
        for waiter in state.withLock({ $0.hold.end(at: now) }) { _ = waiter.deliver(()) }
    }

    /// Waits while the transfer is held, unless the waiting task is cancelled; false if the time came first.
    public func pass(until deadline: MonotonicTime) async -> Bool {
        while isHeld, !Task.isCancelled {
            guard await waitForRelease(until: deadline) else { return false }
        }
        return true
    }

    /// Waits, if the transfer is held, until it is let go, which it may be for a moment only; false if the time came
    /// first.
    public func waitForRelease(until deadline: MonotonicTime) async -> Bool {
        if let whole { return await whole.waitForRelease(until: deadline) }
        let parking = Parking<Void>(on: reactor)
        guard let number = state.withLock({ $0.hold.wait(parking) }) else { return true }
        let outcome = await withTaskCancellationHandler {
            await parking.wait(until: deadline, interrupt: nil)
        } onCancel: {
            parking.interrupt()
        }
        state.withLock { $0.hold.leave(number) }
        if case .timedOut = outcome { return false }
        return true
    }

    public enum Motion: Sendable, Hashable {
        case moving
        case held
        /// The transfer has ended, or is being stopped.
        case over
    }

    public var motion: Motion { state.withLock { $0.hold.motion } }

    /// How the transfer stands, once that is otherwise than `known`; at once for nil. Nil when the awaiting task is
    /// cancelled.
    public func motion(after known: Motion?) async -> Motion? {
        while !Task.isCancelled {
            let parking = Parking<Void>(on: reactor)
            guard let number = state.withLock({ $0.hold.observe(parking, after: known) }) else {
                return motion
            }
            await withTaskCancellationHandler {
                _ = await parking.wait(until: .never, interrupt: nil)
            } onCancel: {
                parking.interrupt()
            }
            state.withLock { $0.hold.leave(number) }
        }
        return nil
    }
}

// MARK: - Counting

extension TransferWatch {
    public var tally: Tally { book.value }

    /// The tally once it is another than that of `version`, with its own version; at once for a version of nil. Nil
    /// when the awaiting task is cancelled.
    public func tally(
        after version: UInt64?, notBefore time: MonotonicTime
    ) async -> (tally: Tally, version: UInt64)? {
        await book.value(after: version, notBefore: time).map { ($0.value, $0.version) }
    }

    /// Tells `follower` of every byte that moves, until the end. To be said before anything has moved.
    public func add(_ follower: any TallyFollower) {
        state.withLock { $0.followers.append(follower) }
    }

    public func beginSending(_ total: Int?) { note { $0.beginSending(total) } }

    public func sent(_ count: Int) { note { $0.sent(count) } }

    public func beginReceiving(_ total: Int?, isCoded: Bool, after base: Int = 0) {
        note { $0.beginReceiving(total, isCoded: isCoded, after: base) }
    }

    public func received(upTo count: Int) { note { $0.received(upTo: count) } }

    /// From now on several exchanges bring the content: only what they have brought together counts.
    public func receiveTogether() { note { $0.receiveTogether() } }

    /// Of the content, by all of them.
    public func receivedTogether(_ count: Int) { note { $0.receivedTogether(count) } }

    public func decoded(upTo count: Int) { note { $0.decoded(upTo: count) } }

    /// The request has come to its end: the tally is final.
    public func end() {
        stop()
        note(isLast: true) { $0.end() }
    }

    @inline(__always)
    private func note(isLast: Bool = false, _ change: (inout Tally) -> Void) {
        guard let (before, after) = (whole ?? self).book.change(isLast: isLast, change) else { return }
        guard after.sent != before.sent || after.received != before.received else { return }
        (whole ?? self).tellFollowers(before, after)
    }

    private func tellFollowers(_ before: Tally, _ after: Tally) {
        for follower in state.withLock({ $0.followers }) {
            follower.moved(sent: after.sent - before.sent, received: after.received - before.received)
        }
    }
}

/// Adds up what several transfers move.
public protocol TallyFollower: AnyObject, Sendable {
    func moved(sent: Int, received: Int)
}
