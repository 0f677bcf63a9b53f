public import DunlinTypes
internal import Synchronization

/// One request's cancel switch: thrown by whoever wants it to stop, felt by whatever the request waits for just now.
///
/// Rules: thrown once, for good, and the first cause stays. Arming after that is refused, so that a request cancelled
/// between two waits never starts the second. A channel is armed for as long as it is used, and whatever else is waited
/// for meanwhile comes beside it. Nothing is called under the lock.
public final class Cancellation: Sendable {
    public enum Cause: Sendable, Equatable {
        /// The awaiting Swift task was cancelled.
        case task
        /// Cancelled by handle, registry or session.
        case handle
    }

    fileprivate struct State {
        var channel: (channel: Channel, turn: UInt64)?
        var other: (any Cancellable)?
        var cause: Cause?
        var phase = HTTP.Phase.firstByte
        /// Nil for most, which costs less than none.
        var parts: [Part]?
    }

    fileprivate struct Part {
        weak var cancellation: Cancellation?
    }

    private let state = Mutex(State())
    /// Whom it tells what is waited for.
    private let whole: Cancellation?

    public init() {
        whole = nil
    }

    /// For one of several exchanges of a request: thrown with the whole, or alone. What the first of them waits for is
    /// what the request waits for.
    public init(partOf whole: Cancellation, isFirst: Bool = false) {
        self.whole = isFirst ? whole : nil
        if let cause = whole.add(self) { cancel(cause) }
    }

    /// What it was thrown by, if it is too late.
    private func add(_ part: Cancellation) -> Cause? {
        state.withLock { state in
            state.parts = (state.parts ?? []).filter { $0.cancellation != nil } + [Part(cancellation: part)]
            return state.cause
        }
    }

    public var cause: Cause? { state.withLock { $0.cause } }

    /// What the request waits for just now, or did when that was last told: whoever waits for anything but its answer
    /// says so.
    public var phase: HTTP.Phase {
        get { state.withLock { $0.phase } }
        set {
            state.withLock { $0.phase = newValue }
            whole?.phase = newValue
        }
    }

    /// From now on a cancel reaches this turn of the channel; false if it is too late.
    public func arm(_ channel: Channel, turn: UInt64) -> Bool {
        state.withLock { state in
            guard state.cause == nil else { return false }
            state.channel = (channel, turn)
            return true
        }
    }

    public func arm(_ other: any Cancellable) -> Bool {
        state.withLock { state in
            guard state.cause == nil else { return false }
            state.other = other
            return true
        }
    }

    public func disarm() {
        state.withLock { ($0.channel, $0.other) = (nil, nil) }
    }

    /// Leaves a channel armed that is in use meanwhile.
    public func disarm(_ other: any Cancellable) {
        state.withLock { if $0.other === other { $0.other = nil } }
    }

    public func cancel(_ cause: Cause) {
        guard let armed = state.withLock({ $0.cancel(cause) }) else { return }
        if let (channel, turn) = armed.channel { channel.cancel(turn: turn) }
        armed.other?.cancel()
        for part in armed.parts ?? [] { part.cancellation?.cancel(cause) }
    }
}

extension Cancellation.State {
    /// What was armed; nil if it was thrown before.
    fileprivate mutating func cancel(_ cause: Cancellation.Cause) -> Cancellation.State? {
        guard self.cause == nil else { return nil }
        let armed = self
        self.cause = cause
        (channel, other, parts) = (nil, nil, nil)
        return armed
    }
}

/// A wait that a cancel can end. Called from any thread.
public protocol Cancellable: AnyObject, Sendable {
    func cancel()
}
