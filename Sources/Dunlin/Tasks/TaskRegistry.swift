internal import DunlinReactor
internal import Synchronization

/// Every running request of a session, by id.
///
/// The actor is for what takes time: cancelling all and waiting for them. The book itself stands under a lock, because
/// each request enters and leaves it: as actor calls the two cost a request on the loop four job switches, two
/// allocations and a quarter of its instructions (see Docs/Concurrency.md).
public actor TaskRegistry {
    private nonisolated let book = Mutex(RegistryMachine<TaskDelegate, Parking<Void>>())
    private nonisolated let loop: Reactor

    init(on loop: Reactor) {
        self.loop = loop
    }

    /// Enters a request; the place it must leave from.
    nonisolated func add(_ delegate: TaskDelegate) throws -> Int {
        guard let place = book.withLock({ $0.add(delegate) }) else {
            throw NetworkError(.sessionClosed, "the session is shut down")
        }
        return place
    }

    nonisolated func remove(at place: Int) {
        for watcher in book.withLock({ $0.remove(place) }) { _ = watcher.deliver(()) }
    }

    /// Takes no more requests.
    nonisolated func close() {
        book.withLock { $0.close() }
    }

    nonisolated var isClosed: Bool { book.withLock { $0.isClosed } }

    public nonisolated var count: Int { book.withLock { $0.count } }

    /// A picture of every running request, oldest first.
    public nonisolated var all: [TaskSnapshot] {
        delegates.map(\.snapshot)
    }

    public nonisolated subscript(_ id: TaskID) -> TaskDelegate? {
        book.withLock { $0.running }.first { $0.id == id }
    }

    private nonisolated var delegates: [TaskDelegate] {
        book.withLock { $0.running }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Stops one request; false if it is not running.
    @discardableResult
    public nonisolated func cancel(_ id: TaskID) -> Bool {
        guard let delegate = self[id] else { return false }
        delegate.cancel()
        return true
    }

    /// Stops every request and returns how many there were, once the last has told its caller.
    ///
    /// Must not be awaited by one of the requests it stops, such as inside a stream's scope.
    @discardableResult
    public func cancelAll() async -> Int {
        // The newest first: a request that waits for a connection must not be given one that an older one just left.
        let stopped = delegates.reversed()
        for delegate in stopped { delegate.cancel() }
        await drain(until: .never)
        return stopped.count
    }

    /// Waits until nothing runs any more or the time has come.
    func drain(until deadline: MonotonicTime) async {
        let watcher = Parking<Void>(on: loop)
        guard let number = book.withLock({ $0.watch(watcher) }) else { return }
        _ = await watcher.wait(until: deadline, interrupt: nil)
        book.withLock { $0.leave(number) }
    }
}
