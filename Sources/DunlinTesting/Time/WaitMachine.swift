// Records who waits for a change.
//
// A version only grows. A waiter names the version that it has seen; if that is no longer current, it must not wait. A
// cancel may come before the waiter queues, after it was resumed, or never; each ID is forgotten in every case. The
// machine resumes nobody: it returns whom to resume, outside the lock.
extension LoopbackServer {
    struct WaitMachine<Waiter> {
        private(set) var version: UInt64 = 0
        private var lastID: UInt64 = 0
        private var expected: Set<UInt64> = []
        private var queued: [UInt64: Waiter] = [:]

        mutating func begin() -> UInt64 {
            lastID += 1
            expected.insert(lastID)
            return lastID
        }

        /// Queues the waiter, or returns it if it must not wait.
        mutating func wait(_ id: UInt64, since seen: UInt64, _ waiter: Waiter) -> Waiter? {
            let wasExpected = expected.remove(id) != nil
            guard wasExpected, seen == version else { return waiter }
            queued[id] = waiter
            return nil
        }

        mutating func cancel(_ id: UInt64) -> Waiter? {
            expected.remove(id)
            return queued.removeValue(forKey: id)
        }

        mutating func announce() -> [Waiter] {
            version += 1
            defer { queued.removeAll() }
            return Array(queued.values)
        }

        var isEmpty: Bool { expected.isEmpty && queued.isEmpty }
    }
}
