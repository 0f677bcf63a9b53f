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

    /// Lets go of what tells now: nothing is told any more once that has been cancelled and awaited.
    func take() -> Task<Void, Never>? {
        task.withLock { telling in
            defer { telling = nil }
            return telling
        }
    }
}
