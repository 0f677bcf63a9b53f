internal import Synchronization

/// A value that is set once, and its waiters.
///
/// Rules:
/// 1. The first value is final. Waiters get it when it comes, in the order in which they came; later ones get it at
///    once.
/// 2. A waiter that gives up is not kept.
struct SettlementMachine<Value, Waiter> {
    enum Wait {
        case settled(Value)
        /// The waiter is told later; it gives up by this number.
        case later(UInt64)
    }

    private(set) var value: Value?
    private var waiters: [UInt64: Waiter] = [:]
    private var last: UInt64 = 0

    /// Settles the value. Returns the waiters to tell; nil if it was settled before.
    mutating func settle(_ value: Value) -> [Waiter]? {
        guard self.value == nil else { return nil }
        self.value = value
        defer { waiters = [:] }
        return waiters.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The value, if there is one; otherwise the waiter is told later.
    mutating func wait(_ waiter: Waiter) -> Wait {
        if let value { return .settled(value) }
        last += 1
        waiters[last] = waiter
        return .later(last)
    }

    /// Forgets a waiter. Returns it, to be released outside of locks; nil if it was told.
    mutating func giveUp(_ number: UInt64) -> Waiter? { waiters.removeValue(forKey: number) }
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
                if case .settled(let value) = machine.withLock({ $0.wait(.task(continuation)) }) {
                    continuation.resume(returning: value)
                }
            }
        }
    }

    /// The value, once there is one; nil if the awaiting task is cancelled before.
    package var valueUnlessCancelled: Value? {
        get async {
            let first = Settlement<Value?>()
            let number = whenSettled { first.settle($0) }
            defer { if let number { giveUp(number) } }
            return await withTaskCancellationHandler {
                await first.value
            } onCancel: {
                first.settle(nil)
            }
        }
    }

    /// Calls `call` once: when the value comes, or at once if it has come. Returns a number with which the caller can
    /// give up; nil if there is nothing to wait for.
    @discardableResult
    package func whenSettled(_ call: @escaping @Sendable (Value) -> Void) -> UInt64? {
        switch machine.withLock({ $0.wait(.call(call)) }) {
        case .settled(let value):
            call(value)
            return nil
        case .later(let number): return number
        }
    }

    /// Forgets a call of `whenSettled`, which is not made any more, unless it has begun.
    func giveUp(_ number: UInt64) { _ = machine.withLock { $0.giveUp(number) } }

    package var valueIfSettled: Value? { machine.withLock { $0.value } }
}
