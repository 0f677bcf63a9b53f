internal import Synchronization

/// Tells a session's observers of its reachability: from the first observer on, until the session is shut down or
/// released.
final class ReachabilityReporter: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    deinit {
        task.withLock { $0 }?.cancel()
    }

    /// Begins, unless it has begun already.
    func begin(with reachability: Reachability, to hub: EventHub) {
        let statuses = reachability.statuses
        task.withLock { telling in
            guard telling == nil else { return }
            telling = Task.detached {
                for await status in statuses where !Task.isCancelled { hub.tell(.reachability(status)) }
            }
        }
    }

    /// Nothing is told any more once it returns.
    func end() async {
        let task = task.withLock { telling in
            defer { telling = nil }
            return telling
        }
        task?.cancel()
        await task?.value
    }
}
