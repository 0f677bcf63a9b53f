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

    /// Whether this was the first.
    @discardableResult
    package func settle(_ value: Value) -> Bool {
        guard let waiters = machine.withLock({ $0.settle(value) }) else { return false }
        for waiter in waiters { waiter.tell(value) }
        return true
    }

    /// Does not end before there is a value.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                if let value = machine.withLock({ $0.wait(.task(continuation)) }) {
                    continuation.resume(returning: value)
                }
            }
        }
    }

    /// Calls, once, whoever settles it or, if it is settled, at once.
    package func whenSettled(_ call: @escaping @Sendable (Value) -> Void) {
        if let value = machine.withLock({ $0.wait(.call(call)) }) { call(value) }
    }

    package var valueIfSettled: Value? { machine.withLock { $0.value } }
}
