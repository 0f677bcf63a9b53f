/// A session whose requests an `ActivityMonitor` shows, as long as it or any of its requests exists.
final class FollowedSession {
    private weak let session: SessionCore?
    private var observer: UInt64?
    private var isBusy = false
    /// How many requests had ended at the last look.
    private var ends: UInt64 = 0

    init(_ session: SessionCore) {
        self.session = session
    }

    deinit {
        guard let observer, let tasks = session?.tasks else { return }
        Task.detached { await tasks.remove(observer: observer) }
    }

    /// Makes `bell` ring for what `look` asks for.
    func listen(_ bell: AsyncStream<Void>.Continuation) async {
        guard observer == nil, let tasks = session?.tasks else { return }
        let id = await tasks.join(bell)
        observer = id
        (isBusy, ends) = (false, await tasks.look(id, for: .nothing).ends.count)
    }

    /// Ends the ringing.
    func unfollow() async {
        guard let id = observer else { return }
        observer = nil
        await session?.tasks.remove(observer: id)
    }

    /// The work now, and whether some ended since the last look. The bell rings for `news`. Nil once the session is
    /// gone.
    func look(for news: News) async -> ActivityMachine.Work? {
        guard let tasks = session?.tasks else { return nil }
        guard let observer else { return ActivityMachine.Work() }
        let observation = await tasks.look(observer, for: news)
        let hasEnded = observation.ends.count != ends
        // What was there and has not ended is ending just now.
        let isEnding = isBusy && !hasEnded
        (isBusy, ends) = (observation.isBusy, observation.ends.count)
        let idleTime = isEnding ? .zero : max(.zero, observation.now.duration(since: observation.ends.last))
        let isKnown = isEnding || observation.ends.count > 0
        return ActivityMachine.Work(goesOn: observation.isBusy, hasEnded: hasEnded, idleTime: isKnown ? idleTime : nil)
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
