internal import Synchronization

/// What follows a transfer for a display: one task at a time.
final class Follower: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Takes the place of the former, which is stopped; nil stops it only.
    func become(_ next: Task<Void, Never>?) {
        task.withLock { task in
            defer { task = next }
            return task
        }?.cancel()
    }
}
