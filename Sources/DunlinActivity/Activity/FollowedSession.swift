/// A session whose requests an `ActivityMonitor` shows, as long as it or any of its requests exists. Whoever looks must
/// unfollow it at last.
struct FollowedSession: Sendable {
    private weak let session: SessionCore?
    private var observer: UInt64?
    private var isBusy = false
    /// How many requests had ended at the last look.
    private var ends: UInt64 = 0

    init(_ session: SessionCore) {
        self.session = session
    }

    /// Ends the ringing.
    mutating func unfollow() async {
        guard let id = observer else { return }
        observer = nil
        await session?.tasks.remove(observer: id)
    }

    /// The work now, and whether some ended since the last look; none had before the first. The ledger is rung for
    /// `news`. Nil once the session is gone.
    mutating func look(for news: News, _ ledger: ActivityLedger) async -> ActivityMachine.Work? {
        guard let tasks = session?.tasks else { return nil }
        let observer = if let observer { observer } else { await begin(tasks, ledger) }
        let observation = await tasks.look(observer, for: news)
        let hasEnded = observation.ends.count != ends
        // What was there and has not ended is ending just now.
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
