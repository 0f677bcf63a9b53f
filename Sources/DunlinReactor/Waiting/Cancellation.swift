public import DunlinTypes
internal import Synchronization

/// The switch that cancels one call: anybody may throw it, and it ends whatever the call waits for just then.
///
/// Rules: it is thrown once, for good, and the first cause stays. Arming after that is refused, so that a call
/// cancelled between two waits never starts the second. A channel is armed for as long as it is used; other waits are
/// armed beside it. Nothing is called under the lock.
public final class Cancellation: Sendable {
    public enum Cause: Sendable, Equatable {
        /// The awaiting Swift task was cancelled.
        case task
        /// Cancelled by handle, registry or session.
        case handle
        /// The time of the whole call was over: what it still does fails as timed out.
        case deadline
    }

    fileprivate struct State {
        var channel: (channel: Channel, turn: UInt64)?
        var other: (any Cancellable)?
        var cause: Cause?
        var phase = HTTP.Phase.firstByte
        /// The parts of the call; nil for most, which costs less than an empty array.
        var parts: [Part]?
    }

    fileprivate struct Part {
        weak var cancellation: Cancellation?
    }

    private let state = Mutex(State())
    /// The cancellation of the whole call, which is told the phase.
    private let whole: Cancellation?

    public init() {
        whole = nil
    }

    /// Makes the cancellation of one of several exchanges of a call: it is thrown with the whole, or alone. The phase
    /// of the first one is the phase of the call.
    public init(partOf whole: Cancellation, isFirst: Bool = false) {
        self.whole = isFirst ? whole : nil
        if let cause = whole.add(self) { cancel(cause) }
    }

    /// Adds a part; returns the cause if the cancellation has been thrown already.
    private func add(_ part: Cancellation) -> Cause? {
        state.withLock { state in
            state.parts = (state.parts ?? []).filter { $0.cancellation != nil } + [Part(cancellation: part)]
            return state.cause
        }
    }

    public var cause: Cause? { state.withLock { $0.cause } }

    /// The phase of the present wait, or of the last one that was set. A wait for anything but the answer sets it.
    public var phase: HTTP.Phase {
        get { state.withLock { $0.phase } }
        set {
            state.withLock { $0.phase = newValue }
            whole?.phase = newValue
        }
    }

    /// Makes a cancel reach this turn of the channel; false if it is too late.
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

    /// Disarms the wait. A channel that is in use stays armed.
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
    /// Returns what was armed; nil if it was thrown before.
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
