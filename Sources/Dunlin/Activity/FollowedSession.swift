internal import DunlinReactor

/// A session whose requests an `ActivityMonitor` shows: rings whenever something about them may have changed.
struct FollowedSession {
    private weak let session: HTTPSession?
    private var listening: Task<Void, Never>?
    private var awaited: TaskID?

    init(_ session: HTTPSession) {
        self.session = session
    }

    /// Nil once the session is gone.
    var tasks: TaskRegistry? { session?.tasks }

    mutating func listen(_ bell: AsyncStream<Void>.Continuation) {
        // Of many events one is enough: what has become of the requests is in the registry by then.
        guard let first = session?.events(keeping: 1) else { return }
        listening?.cancel()
        listening = Task { [weak session] in
            var events = first
            while !Task.isCancelled {
                for await _ in events { bell.yield() }
                bell.yield()
                // Of a session that was shut down they end, but it may be opened again.
                guard let next = session?.events(keeping: 1) else { return }
                events = next
            }
        }
    }

    /// Nobody is told of a request that began before there was somebody to tell: its end has to be waited for.
    mutating func awaitEnd(of task: TaskDelegate, in tasks: TaskRegistry, _ bell: AsyncStream<Void>.Continuation) {
        guard task.audience == nil, awaited != task.id else { return }
        awaited = task.id
        // Ends with the request.
        Task { [id = task.id] in
            _ = await tasks.waitForEnd(of: id, until: .never, Interrupt())
            bell.yield()
        }
    }

    func ignore() {
        listening?.cancel()
    }
}
