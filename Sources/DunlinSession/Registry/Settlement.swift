internal import Synchronization

/// A value that is set once, and its waiters.
///
/// Rules: the first value is final. Waiters get it when it comes; later ones get it at once.
struct SettlementMachine<Value, Waiter> {
    private enum State {
        case open([Waiter])
        case settled(Value)
    }

    private var state = State.open([])

    var value: Value? {
        if case .settled(let value) = state { value } else { nil }
    }

    /// Settles the value. Returns the waiters to tell; nil if it was settled before.
    mutating func settle(_ value: Value) -> [Waiter]? {
        guard case .open(let waiters) = state else { return nil }
        state = .settled(value)
        return waiters
    }

    /// The value, if there is one; otherwise the waiter is told later.
    mutating func wait(_ waiter: Waiter) -> Value? {
        guard case .open(var waiters) = state else { return value }
        waiters.append(waiter)
        state = .open(waiters)
        return nil
    }
}

/// A value that is set once, and that any number of tasks can wait for.
package final class Settlement<Value: Sendable>: Sendable {
    private enum Waiter {
        case task(CheckedContinuation<Value, Never>)
        case call(@Sendable (Value) -> Void)

        func tell(_ value: Value) {
            switch self {
            case .task(let continuation): continuation.resume(returning: value)
            case .call(let call): call(value)
            }
        }
    }

    private let machine = Mutex(SettlementMachine<Value, Waiter>())

    package init() {}

    /// Settles the value. Returns whether this was the first one.
    @discardableResult
    package func settle(_ value: Value) -> Bool {
        guard let waiters = machine.withLock({ $0.settle(value) }) else { return false }
        for waiter in waiters { waiter.tell(value) }
        return true
    }

    /// The value, once there is one. Cancelling the awaiting task does not end the wait.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                if let value = machine.withLock({ $0.wait(.task(continuation)) }) {
                    continuation.resume(returning: value)
                }
            }
        }
    }

    /// Calls `call` once: when the value comes, or at once if it has come.
    package func whenSettled(_ call: @escaping @Sendable (Value) -> Void) {
        if let value = machine.withLock({ $0.wait(.call(call)) }) { call(value) }
    }

    package var valueIfSettled: Value? { machine.withLock { $0.value } }
}
