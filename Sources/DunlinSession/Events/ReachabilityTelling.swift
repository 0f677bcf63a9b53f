internal import Synchronization

/// Tells a session's listeners what its reachability says: from the first listener on, until the session is shut down
/// or dropped.
final class ReachabilityTelling: Sendable {
    private let telling = Mutex<Task<Void, Never>?>(nil)

    deinit {
        telling.withLock { $0 }?.cancel()
    }

    /// Begins, unless it has begun already.
    func begin(with reachability: Reachability, to hub: EventHub) {
        let statuses = reachability.statuses
        telling.withLock { telling in
            guard telling == nil else { return }
            telling = Task {
                for await status in statuses where !Task.isCancelled { hub.tell(.reachability(status)) }
            }
        }
    }

    /// Nothing is told any more once it returns.
    func end() async {
        let task = telling.withLock { telling in
            defer { telling = nil }
            return telling
        }
        task?.cancel()
        await task?.value
    }
}
