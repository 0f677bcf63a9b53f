/// A session whose requests an `ActivityMonitor` shows, as long as the session or any of its requests exists. Whoever
/// looks must finally unfollow it.
struct FollowedSession: Sendable {
    private weak let session: SessionCore?
    private var observer: UInt64?
    private var isBusy = false
    /// The number of requests that had ended at the last look.
    private var ends: UInt64 = 0

    init(_ session: SessionCore) {
        self.session = session
    }

    /// Stops the ringing.
    mutating func unfollow() async {
        guard let id = observer else { return }
        observer = nil
        await session?.tasks.remove(observer: id)
    }

    /// The current work, and whether some ended since the last look; none before the first. The ledger rings for
    /// `news`. Nil if the session is gone.
    mutating func look(for news: News, _ ledger: ActivityLedger) async -> ActivityMachine.Work? {
        guard let tasks = session?.tasks else { return nil }
        let observer = if let observer { observer } else { await begin(tasks, ledger) }
        let observation = await tasks.look(observer, for: news)
        let hasEnded = observation.ends.count != ends
        // Requests that were there and are not counted as ended are ending now.
        let isEnding = isBusy && !hasEnded
        (isBusy, ends) = (observation.isBusy, observation.ends.count)
        let idleTime = isEnding ? .zero : max(.zero, observation.now.duration(since: observation.ends.last))
        let isKnown = isEnding || observation.ends.count > 0
        return ActivityMachine.Work(goesOn: observation.isBusy, hasEnded: hasEnded, idleTime: isKnown ? idleTime : nil)
    }

    private mutating func begin(_ tasks: TaskRegistry, _ ledger: ActivityLedger) async -> UInt64 {
        let id = await tasks.join { ledger.ring() }
        observer = id
        (isBusy, ends) = (false, await tasks.look(id, for: .nothing).ends.count)
        return id
    }
}

extension ActivityMachine.Work {
    /// Adds the work of another session.
    mutating func add(_ other: Self) {
        goesOn = goesOn || other.goesOn
        hasEnded = hasEnded || other.hasEnded
        idleTime = idleTime.map { min($0, other.idleTime ?? $0) } ?? other.idleTime
    }
}
