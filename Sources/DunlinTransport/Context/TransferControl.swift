public import DunlinReactor
public import DunlinTypes
internal import Synchronization

/// What an exchange shares with those who suspend and observe its call: whether it may go on, and how far it has come.
///
/// A call without observers has none. The exchange writes the tally as bytes move. While it is suspended it stops
/// before it takes more from the socket or gives more to it. Observers ask for the tally; nobody is called back.
public final class TransferControl: Sendable {
    private struct State {
        var suspension = SuspensionMachine<ValueWaiter<Void>>()
        var queueStatus: QueueStatus.State
        var observers: [any TallyObserver] = []
        var untoldHop: HTTP.Hop?
    }

    private let reactor: Reactor
    private let state: Mutex<State>
    private let book: ObservableValue<Tally>
    /// The control of the whole call, if this is a part of it: suspending and counting apply to both.
    private let whole: TransferControl?

    public init(on reactor: Reactor, priority: HTTP.Priority = .normal) {
        self.reactor = reactor
        whole = nil
        state = Mutex(State(queueStatus: QueueStatus.State(priority: priority)))
        book = ObservableValue(Tally(), on: reactor)
    }

    /// Makes the control of one of several exchanges of a call. It has a position of its own in queues, with the
    /// priority of the whole, and is suspended with the whole.
    public init(partOf whole: TransferControl) {
        self.whole = whole
        reactor = whole.reactor
        state = Mutex(State(queueStatus: QueueStatus.State(priority: .normal)))
        book = ObservableValue(Tally(), on: reactor)
        whole.queueStatus.add(self)
    }

    public var queueStatus: QueueStatus { QueueStatus(control: self) }

    func withQueueStatus<Value: Sendable>(_ body: (inout QueueStatus.State) -> Value) -> Value {
        state.withLock { body(&$0.queueStatus) }
    }

    public func now() -> HTTP.Instant { reactor.now() }

    /// The hop that the call ended with, where its error can tell nothing of it: it was under way when the call's Swift
    /// task was cancelled, or the user's code failed the call with an error of its own. What a part notes is noted for
    /// the whole too, and for no other part.
    public var untoldHop: HTTP.Hop? {
        get { state.withLock { $0.untoldHop } }
        set {
            state.withLock { $0.untoldHop = newValue }
            whole?.untoldHop = newValue
        }
    }

    /// The same of this exchange alone, where several are under way at once; asked for a second time, nil.
    public func takeUntoldHop() -> HTTP.Hop? {
        state.withLock { state in
            defer { state.untoldHop = nil }
            return state.untoldHop
        }
    }
}

// MARK: - Holding

extension TransferControl {
    public var isSuspended: Bool { whole?.isSuspended ?? state.withLock { $0.suspension.isSuspended } }

    /// Nanoseconds for which the transfer was suspended from `time` on.
    func suspendedTime(since time: HTTP.Instant) -> Int64 {
        if let whole { return whole.suspendedTime(since: time) }
        if state.withLock({ $0.suspension.isUntouched }) { return 0 }
        let now = reactor.now()
        return state.withLock { $0.suspension.suspendedTime(since: time, at: now) }
    }

    /// Suspends the transfer. Returns whether that changed anything: not if it was suspended already or is over. If it
    /// did, `note` is called first, under the lock: nobody can see the change before it.
    public func suspend(noting note: () -> Void = {}) -> Bool {
        let now = reactor.now()
        let isNew = state.withLock { state in
            guard state.suspension.suspend(at: now) else { return false }
            note()
            return true
        }
        guard isNew else { return false }
        queueStatus.stepAside()
        for observer in state.withLock({ $0.suspension.takeObservers() }) { _ = observer.deliver(()) }
        return true
    }

    /// Resumes the transfer. Returns whether that changed anything. If it did, `note` is called first, under the lock:
    /// nothing goes on before it.
    public func resume(noting note: () -> Void = {}) -> Bool {
        let now = reactor.now()
        let resumed = state.withLock { state in
            let waiters = state.suspension.resume(at: now)
            if waiters != nil { note() }
            return waiters
        }
        guard let waiters = resumed else { return false }
        for waiter in waiters { _ = waiter.deliver(()) }
        return true
    }

    /// The call is being cancelled: whatever is suspended goes on, to find that out.
    public func stop() {
        let now = reactor.now()
        for waiter in state.withLock({ $0.suspension.end(at: now) }) { _ = waiter.deliver(()) }
    }

    /// Waits while the transfer is suspended, unless the waiting task is cancelled; false if the deadline came first.
    public func pass(until deadline: HTTP.Instant) async -> Bool {
        while isSuspended, !Task.isCancelled {
            guard await waitForRelease(until: deadline) else { return false }
        }
        return true
    }

    /// Waits, if the transfer is suspended, until it is resumed, perhaps for a moment only; false if the deadline came
    /// first.
    public func waitForRelease(until deadline: HTTP.Instant) async -> Bool {
        if let whole { return await whole.waitForRelease(until: deadline) }
        let waiter = ValueWaiter<Void>(on: reactor)
        guard let number = state.withLock({ $0.suspension.wait(waiter) }) else { return true }
        let outcome = await withTaskCancellationHandler {
            await waiter.wait(until: deadline, cancellation: nil)
        } onCancel: {
            waiter.cancel()
        }
        state.withLock { $0.suspension.leave(number) }
        if case .timedOut = outcome { return false }
        return true
    }

    public enum Motion: Sendable, Hashable {
        case moving
        case suspended
        /// The transfer has ended, or is being cancelled.
        case over
    }

    public var motion: Motion { state.withLock { $0.suspension.motion } }

    /// The state of the transfer once it differs from `known`; at once for nil. Nil when the awaiting task is
    /// cancelled.
    public func motion(after known: Motion?) async -> Motion? {
        while !Task.isCancelled {
            let waiter = ValueWaiter<Void>(on: reactor)
            guard let number = state.withLock({ $0.suspension.observe(waiter, after: known) }) else {
                return motion
            }
            await withTaskCancellationHandler {
                _ = await waiter.wait(until: .never, cancellation: nil)
            } onCancel: {
                waiter.cancel()
            }
            state.withLock { $0.suspension.leave(number) }
        }
        return nil
    }
}

// MARK: - Counting

extension TransferControl {
    public var tally: Tally { book.value }

    /// The tally once it differs from that of `version`, with its own version; at once for a version of nil. Nil when
    /// the awaiting task is cancelled.
    public func tally(
        after version: UInt64?, notBefore time: HTTP.Instant
    ) async -> (tally: Tally, version: UInt64)? {
        await book.value(after: version, notBefore: time).map { ($0.value, $0.version) }
    }

    /// Tells `observer` of every byte that moves, until the end. To be called before anything has moved.
    public func add(_ observer: any TallyObserver) {
        state.withLock { $0.observers.append(observer) }
    }

    public func beginSending(_ total: Int?) { note { $0.beginSending(total) } }

    public func sent(_ count: Int) { note { $0.sent(count) } }

    public func beginReceiving(_ total: Int?, isCoded: Bool, after base: Int = 0) {
        // What is there already has not moved.
        note(isMotion: false) { $0.beginReceiving(total, isCoded: isCoded, after: base) }
    }

    public func received(upTo count: Int) { note { $0.received(upTo: count) } }

    /// Says that several exchanges bring the content: from now on only what they have brought together counts.
    public func receiveTogether() { note { $0.receiveTogether() } }

    /// Counts bytes of the content that all of them have brought.
    public func receivedTogether(_ count: Int) { note { $0.receivedTogether(count) } }

    public func decoded(upTo count: Int) { note { $0.decoded(upTo: count) } }

    /// Ends the transfer: the tally is final.
    public func end() {
        stop()
        note(isLast: true) { $0.end() }
    }

    @inline(__always)
    private func note(isLast: Bool = false, isMotion: Bool = true, _ change: (inout Tally) -> Void) {
        guard let (before, after) = (whole ?? self).book.change(isLast: isLast, change), isMotion else { return }
        guard after.sent != before.sent || after.received != before.received else { return }
        (whole ?? self).tellFollowers(before, after)
    }

    private func tellFollowers(_ before: Tally, _ after: Tally) {
        for observer in state.withLock({ $0.observers }) {
            observer.moved(sent: after.sent - before.sent, received: after.received - before.received)
        }
    }
}

/// Adds up the bytes of several transfers.
public protocol TallyObserver: AnyObject, Sendable {
    func moved(sent: Int, received: Int)
}
