public import DunlinTypes
internal import Synchronization

/// Waits once for a value that somebody else delivers, until a deadline or a cancel.
///
/// Delivery, deadline and cancel race; the first one wins, and the others learn that they lost. A value that was not
/// taken still belongs to whoever delivered it.
public final class ValueWaiter<Value: Sendable>: Timed, Cancellable {
    public enum Outcome: Sendable {
        case value(Value)
        case timedOut
        case cancelled
    }

    private enum State {
        case early
        case waiting(UnsafeContinuation<Outcome, Never>)
        case settled(Outcome)
        case over
    }

    private let reactor: Reactor
    private let state = Mutex(State.early)

    public init(on reactor: Reactor) {
        self.reactor = reactor
    }

    /// Waits for the outcome. Must be called once.
    public func wait(until deadline: HTTP.Instant, cancellation: Cancellation?) async -> Outcome {
        if let cancellation, !cancellation.arm(self) { self.cancel() }
        defer { cancellation?.disarm(self) }
        let token = deadline < .never ? reactor.schedule(self, at: deadline) : nil
        defer { if let token { reactor.forget(token) } }
        return await withUnsafeContinuation { continuation in
            let outcome = state.withLock { state -> Outcome? in
                if case .settled(let outcome) = state {
                    state = .over
                    return outcome
                }
                state = .waiting(continuation)
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Delivers the value; returns false if the wait ended otherwise, and the value was not taken.
    public func deliver(_ value: Value) -> Bool {
        settle(.value(value))
    }

    public func cancel() {
        _ = settle(.cancelled)
    }

    public func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
        _ = settle(.timedOut)
        return .never
    }

    private func settle(_ outcome: Outcome) -> Bool {
        let (won, waiter) = state.withLock { state -> (Bool, UnsafeContinuation<Outcome, Never>?) in
            switch state {
            case .early:
                state = .settled(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .over
                return (true, continuation)
            case .settled, .over:
                return (false, nil)
            }
        }
        waiter?.resume(returning: outcome)
        return won
    }
}
