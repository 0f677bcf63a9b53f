internal import Dunlin

/// Tells whether a task runs, of one task at a time.
///
/// Rules: who begins to follow is told at once how the task stands, then every change, and of the end of every task
/// that it does not run. A task that is followed no longer is not told of any more, whatever it does. Following
/// nothing tells nothing.
actor StateFollower {
    private let tell: @Sendable (Bool) -> Bool
    private var follower: Task<Void, Never>?
    private var binding: UInt64 = 0

    /// `tell` says whether there still is somebody to tell.
    init(_ tell: @escaping @Sendable (Bool) -> Bool) {
        self.tell = tell
    }

    deinit {
        follower?.cancel()
    }

    func follow(_ activity: AsyncStream<Bool>?, isRunning: Bool) {
        follower?.cancel()
        follower = nil
        binding += 1
        guard let activity, tell(isRunning) else { return }
        // Ends with the task that it follows, or when another takes its place.
        follower = Task.detached { [weak self, binding] in
            var last = isRunning
            for await isRunning in activity where isRunning != last {
                last = isRunning
                guard await self?.told(isRunning, of: binding) == true else { return }
            }
        }
    }

    private func told(_ isRunning: Bool, of binding: UInt64) -> Bool {
        binding == self.binding && tell(isRunning)
    }
}
