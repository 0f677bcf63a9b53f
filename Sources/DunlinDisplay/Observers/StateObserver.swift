internal import Dunlin

/// Reports whether a task runs, for one task at a time.
///
/// Rules: the state of a newly followed task is reported at once, then every change, and at its end that it does not
/// run. Nothing is reported of a task that is no longer followed. Following nothing reports nothing.
actor StateObserver {
    private let tell: @Sendable (Bool) -> Bool
    private var observing: Task<Void, Never>?
    private var binding: UInt64 = 0

    /// Creates a follower; `tell` returns whether there is still somebody to tell.
    init(_ tell: @escaping @Sendable (Bool) -> Bool) {
        self.tell = tell
    }

    deinit {
        observing?.cancel()
    }

    func observe(_ activity: AsyncStream<Bool>?, isRunning: Bool) {
        observing?.cancel()
        observing = nil
        binding += 1
        guard let activity, tell(isRunning) else { return }
        // The task ends with the task that it follows, or when another replaces that.
        observing = Task.detached { [weak self, binding] in
            var last = isRunning
            for await isRunning in activity where isRunning != last {
                last = isRunning
                guard await self?.pass(isRunning, of: binding) == true else { return }
            }
        }
    }

    private func pass(_ isRunning: Bool, of binding: UInt64) -> Bool {
        binding == self.binding && tell(isRunning)
    }
}
