internal import Synchronization

/// One value that comes once, and those who wait for it.
///
/// Rules: the first value stays, whoever brings others; who waits gets it when it comes, and who comes later at once.
struct SettlementMachine<Value, Waiter> {
    private enum State {
        case open([Waiter])
        case settled(Value)
    }

    private var state = State.open([])

    var value: Value? {
        if case .settled(let value) = state { value } else { nil }
    }

    /// Those to be told; nil if it was settled before.
    mutating func settle(_ value: Value) -> [Waiter]? {
        guard case .open(let waiters) = state else { return nil }
        state = .settled(value)
        return waiters
    }

    /// The value if there is one; the waiter is told otherwise.
    mutating func wait(_ waiter: Waiter) -> Value? {
        guard case .open(var waiters) = state else { return value }
        waiters.append(waiter)
        state = .open(waiters)
        return nil
    }
}

/// Waits for one value, from any number of tasks.
final class Settlement<Value: Sendable>: Sendable {
    private let machine = Mutex(SettlementMachine<Value, CheckedContinuation<Value, Never>>())

    /// Whether this was the first.
    @discardableResult
    func settle(_ value: Value) -> Bool {
        guard let waiters = machine.withLock({ $0.settle(value) }) else { return false }
        for waiter in waiters { waiter.resume(returning: value) }
        return true
    }

    /// Does not end before there is a value.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                if let value = machine.withLock({ $0.wait(continuation) }) { continuation.resume(returning: value) }
            }
        }
    }

    var valueIfSettled: Value? { machine.withLock { $0.value } }
}
