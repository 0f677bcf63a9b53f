public import DunlinTypes
internal import Synchronization

/// One request's cancel switch: thrown by whoever wants it to stop, felt by whatever the request waits for just now.
///
/// Rules: thrown once, for good, and the first cause stays. Arming after that is refused, so that a request cancelled
/// between two waits never starts the second. Nothing is called under the lock.
public final class Interrupt: Sendable {
    public enum Cause: Sendable, Equatable {
        /// The awaiting Swift task was cancelled.
        case task
        /// Cancelled by handle, registry or session.
        case handle
    }

    private enum Target {
        case nothing
        case channel(Channel, turn: UInt64)
        case other(any Interruptible)
    }

    private struct State {
        var target = Target.nothing
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
            state.target = .channel(channel, turn: turn)
            return true
        }
    }

    public func arm(_ other: any Interruptible) -> Bool {
        state.withLock { state in
            guard state.cause == nil else { return false }
            state.target = .other(other)
            return true
        }
    }

    public func disarm() {
        state.withLock { $0.target = .nothing }
    }

    public func cancel(_ cause: Cause) {
        let target = state.withLock { state -> Target in
            guard state.cause == nil else { return .nothing }
            state.cause = cause
            defer { state.target = .nothing }
            return state.target
        }
        switch target {
        case .nothing: break
        case .channel(let channel, let turn): channel.interrupt(turn: turn)
        case .other(let other): other.interrupt()
        }
    }
}

/// A wait that a cancel can end. Called from any thread.
public protocol Interruptible: AnyObject, Sendable {
    func interrupt()
}
