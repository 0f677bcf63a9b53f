internal import Synchronization

/// Reports a session's reachability to its observers, from the first observer on until the session is shut down or
/// released.
final class ReachabilityReporter: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    deinit {
        task.withLock { $0 }?.cancel()
    }

    /// Begins, unless it has begun.
    func begin(with reachability: Reachability, to hub: EventHub) {
        let statuses = reachability.statuses
        task.withLock { reporting in
            guard reporting == nil else { return }
            reporting = Task.detached {
                for await status in statuses where !Task.isCancelled { hub.tell(.reachability(status)) }
            }
        }
    }

    /// Takes the reporting task. Nothing more is reported once the caller has cancelled and awaited it.
    func take() -> Task<Void, Never>? {
        task.withLock { reporting in
            defer { reporting = nil }
            return reporting
        }
    }
}
