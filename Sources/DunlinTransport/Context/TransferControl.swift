public import DunlinReactor
public import DunlinTypes
internal import Synchronization

/// What an exchange shares with those who suspend and observe its call: whether it may continue, and its progress.
///
/// A call without observers has none. The exchange updates the tally as bytes move. While suspended, it takes nothing
/// from the socket and gives nothing to it. Observers ask for the tally; there are no callbacks.
public final class TransferControl: Sendable {
    private struct State {
        var suspension = SuspensionMachine<ValueWaiter<Void>>()
        var queueStatus: QueueStatus.State
        var observers: [any TallyObserver] = []
        var untoldHop: HTTP.Hop?
    }

    public let reactor: Reactor
    private let state: Mutex<State>
    private let observableTally: ObservableValue<Tally>
    /// The control of the whole call, if this is a part of it: suspension and counting apply to both.
    private let whole: TransferControl?

    public init(on reactor: Reactor, priority: HTTP.Priority = .normal) {
        self.reactor = reactor
        whole = nil
        state = Mutex(State(queueStatus: QueueStatus.State(priority: priority)))
        observableTally = ObservableValue(Tally(), on: reactor)
    }

    /// Creates the control of one of several exchanges of a call. It has its own position in queues, with the priority
    /// of the whole call, and is suspended with it.
    public init(partOf whole: TransferControl) {
        self.whole = whole
        reactor = whole.reactor
        state = Mutex(State(queueStatus: QueueStatus.State(priority: .normal)))
        observableTally = ObservableValue(Tally(), on: reactor)
        whole.queueStatus.add(self)
    }

    public var queueStatus: QueueStatus { QueueStatus(control: self) }

    func withQueueStatus<Value: Sendable>(_ body: (inout QueueStatus.State) -> Value) -> Value {
        state.withLock { body(&$0.queueStatus) }
    }

    public func now() -> HTTP.Instant { reactor.now() }

    /// The hop with which the call ended, if its error cannot carry it: the call's Swift task was cancelled meanwhile,
    /// or the user's code failed the call with its own error. A part's hop is noted for the whole too, but not for
    /// other parts.
    public var untoldHop: HTTP.Hop? {
        get { state.withLock { $0.untoldHop } }
        set {
            state.withLock { $0.untoldHop = newValue }
            whole?.untoldHop = newValue
        }
    }

    /// Takes the hop of this exchange alone, of several at the same time; nil the second time.
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

    /// The time for which the transfer was suspended since `time`, in nanoseconds.
    public func suspendedTime(since time: HTTP.Instant) -> Int64 {
        if let whole { return whole.suspendedTime(since: time) }
        if state.withLock({ $0.suspension.isUntouched }) { return 0 }
        let now = reactor.now()
        return state.withLock { $0.suspension.suspendedTime(since: time, at: now) }
    }

    /// Suspends the transfer. Returns whether that changed anything: not if it is suspended or over. If so, `note` is
    /// called first, under the lock, so that nobody can see the change before.
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

    /// Resumes the transfer. Returns whether that changed anything. If so, `note` is called first, under the lock,
    /// before anything continues.
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

    /// Lets a suspended transfer continue, to notice that the call is being cancelled.
    public func stop() {
        let now = reactor.now()
        for waiter in state.withLock({ $0.suspension.end(at: now) }) { _ = waiter.deliver(()) }
    }

    public enum Passage: Sendable, Hashable {
        /// The transfer may continue.
        case open
        case timedOut
        /// The waiting task was cancelled, and the transfer is still suspended: nothing may move.
        case cancelled
    }

    /// Waits while the transfer is suspended.
    public func pass(until deadline: HTTP.Instant) async -> Passage {
        while isSuspended {
            if Task.isCancelled { return .cancelled }
            guard await waitForRelease(until: deadline) else { return .timedOut }
        }
        return .open
    }

    /// Waits until a suspended transfer is resumed, perhaps only briefly. Returns false if the deadline came first.
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

    /// Returns the state of the transfer once it differs from `known`; at once for nil. Nil if the awaiting task is
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
    public var tally: Tally { observableTally.value }

    /// Returns the tally and its version once it differs from `version`; at once for nil. Nil if the awaiting task is
    /// cancelled.
    public func tally(
        after version: UInt64?, notBefore time: HTTP.Instant
    ) async -> (tally: Tally, version: UInt64)? {
        await observableTally.value(after: version, notBefore: time).map { ($0.value, $0.version) }
    }

    /// Adds an observer that is told of every byte until the end. Call it before anything has moved.
    public func add(_ observer: any TallyObserver) {
        state.withLock { $0.observers.append(observer) }
    }

    public func beginSending(_ total: Int?) { note { $0.beginSending(total) } }

    public func sent(_ count: Int) { note { $0.sent(count) } }

    /// Notes that the connection speaks another protocol, so that more is sent than the request's body.
    package func switchedProtocols() { note(isMotion: false) { $0.switchedProtocols() } }

    public func beginReceiving(_ total: Int?, isCoded: Bool, after base: Int = 0) {
        // Existing bytes have not moved.
        note(isMotion: false) { $0.beginReceiving(total, isCoded: isCoded, after: base) }
    }

    public func received(upTo count: Int) { note { $0.received(upTo: count) } }

    /// Notes that several exchanges bring the content: from now on only what they bring together counts.
    public func receiveTogether() { note { $0.receiveTogether() } }

    /// Counts bytes of the content that all exchanges together have brought.
    public func receivedTogether(_ count: Int) { note { $0.receivedTogether(count) } }

    public func decoded(upTo count: Int) { note { $0.decoded(upTo: count) } }

    /// Ends the transfer: the tally is final.
    public func end() {
        stop()
        note(isLast: true) { $0.end() }
    }

    @inline(__always)
    private func note(isLast: Bool = false, isMotion: Bool = true, _ change: (inout Tally) -> Void) {
        guard let (before, after) = (whole ?? self).observableTally.change(isLast: isLast, change), isMotion else {
            return
        }
        guard after.sent != before.sent || after.received != before.received else { return }
        (whole ?? self).tellObservers(before, after)
    }

    private func tellObservers(_ before: Tally, _ after: Tally) {
        for observer in state.withLock({ $0.observers }) {
            observer.moved(sent: after.sent - before.sent, received: after.received - before.received)
        }
    }
}

/// An observer that adds up the bytes of several transfers.
public protocol TallyObserver: AnyObject, Sendable {
    func moved(sent: Int, received: Int)
}
