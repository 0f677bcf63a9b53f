internal import Synchronization

extension LoopbackServer {
    /// Lets tasks wait until something that they look at has changed as they wish.
    final class Broadcast: Sendable {
        private let machine = Mutex(WaitMachine<CheckedContinuation<Void, Never>>())
        private let observers = Mutex<(last: UInt64, byID: [UInt64: @Sendable () -> Void])>((0, [:]))

        /// Announces a change. Call it after every change, outside the lock that guards what changed.
        func announce() {
            for waiter in machine.withLock({ $0.announce() }) { waiter.resume() }
            for observer in observers.withLock({ Array($0.byID.values) }) { observer() }
        }

        /// Calls `observer` after every change, until the returned closure is called.
        func follow(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            let id = observers.withLock { observers in
                observers.last += 1
                observers.byID[observers.last] = observer
                return observers.last
            }
            // The observer is released outside the lock: that may run code that follows, or stops following.
            return { [self] in _ = observers.withLock { $0.byID.removeValue(forKey: id) } }
        }

        /// The first value that `find` returns; it is called again after every change. Throws `WaitTimedOut` at the
        /// limit, with the text of `what` at that time, and `CancellationError` if the task is cancelled.
        func first<Value: Sendable>(
            within limit: Duration, _ what: @escaping @Sendable () -> String,
            _ find: @escaping @Sendable () -> Value?
        ) async throws -> Value {
            try await withThrowingTaskGroup(of: Value?.self) { group in
                group.addTask { try await self.first(find) }
                group.addTask {
                    try await Task.sleep(for: limit)
                    return nil
                }
                defer { group.cancelAll() }
                guard let value = try await group.next() ?? nil else {
                    throw WaitTimedOut(what: what(), limit: limit)
                }
                return value
            }
        }

        /// The same without a time limit.
        func first<Value: Sendable>(_ find: @Sendable () -> Value?) async throws -> Value {
            while true {
                // Before looking, so that a change after this line ends the wait at once.
                let seen = machine.withLock { $0.version }
                if let value = find() { return value }
                await change(since: seen)
                try Task.checkCancellation()
            }
        }

        private func change(since seen: UInt64) async {
            let id = machine.withLock { $0.begin() }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    machine.withLock { $0.wait(id, since: seen, continuation) }?.resume()
                }
            } onCancel: {
                machine.withLock { $0.cancel(id) }?.resume()
            }
        }
    }
}
