public import DunlinTypes
internal import Synchronization

/// One request's cancel switch: thrown by whoever wants it to stop, felt by whatever the request waits for just now.
///
/// Rules: thrown once, for good, and the first cause stays. Arming after that is refused, so that a request cancelled
/// between two waits never starts the second. A channel is armed for as long as it is used, and whatever else is waited
/// for meanwhile comes beside it. Nothing is called under the lock.
public final class Interrupt: Sendable {
    public enum Cause: Sendable, Equatable {
        /// The awaiting Swift task was cancelled.
        case task
        /// Cancelled by handle, registry or session.
        case handle
    }

    private struct State {
        var channel: (channel: Channel, turn: UInt64)?
        var other: (any Interruptible)?
        var cause: Cause?
        var phase = Phase.firstByte
    }

    private let state = Mutex(State())

    public init() {}

    public var cause: Cause? { state.withLock { $0.cause } }

    /// What the request waits for just now, or did when that was last told: whoever waits for anything but its answer
    /// says so.
    public var phase: Phase {
        get { state.withLock { $0.phase } }
        set { state.withLock { $0.phase = newValue } }
    }

    /// From now on a cancel interrupts this turn of the channel; false if it is too late.
    public func arm(_ channel: Channel, turn: UInt64) -> Bool {
        state.withLock { state in
            guard state.cause == nil else { return false }
            state.channel = (channel, turn)
            return true
        }
    }

    public func arm(_ other: any Interruptible) -> Bool {
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
    public func disarm(_ other: any Interruptible) {
        state.withLock { if $0.other === other { $0.other = nil } }
    }

    public func cancel(_ cause: Cause) {
        let (channel, other) = state.withLock { state -> ((channel: Channel, turn: UInt64)?, (any Interruptible)?) in
            guard state.cause == nil else { return (nil, nil) }
            state.cause = cause
            defer { (state.channel, state.other) = (nil, nil) }
            return (state.channel, state.other)
        }
        if let (channel, turn) = channel { channel.interrupt(turn: turn) }
        other?.interrupt()
    }
}

/// A wait that a cancel can end. Called from any thread.
public protocol Interruptible: AnyObject, Sendable {
    func interrupt()
}
