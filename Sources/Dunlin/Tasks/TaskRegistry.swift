internal import DunlinReactor
internal import Synchronization

/// Every running request of a session, by id, and what carries the next.
///
/// The actor is for what takes time: cancelling all and waiting for them. The book itself stands under a lock, because
/// each request enters and leaves it: as actor calls the two cost a request on the loop four job switches, two
/// allocations and a quarter of its instructions (see Docs/Concurrency.md).
public actor TaskRegistry {
    private struct Book {
        var machine = RegistryMachine<TaskDelegate, Parking<Void>>()
        var carrier: Carrier
    }

    /// What a request gets when it enters.
    struct Admission {
        /// To leave from.
        let place: Int
        let carrier: Carrier
    }

    private nonisolated let book: Mutex<Book>
    private nonisolated let loop: Reactor

    init(_ carrier: Carrier, on loop: Reactor) {
        book = Mutex(Book(carrier: carrier))
        self.loop = loop
    }

    /// Enters a request, which must leave again.
    nonisolated func add(_ delegate: TaskDelegate) throws -> Admission {
        let admission = book.withLock { book in
            book.machine.add(delegate).map { Admission(place: $0, carrier: book.carrier) }
        }
        guard let admission else { throw NetworkError(.sessionClosed, "the session is shut down") }
        return admission
    }

    nonisolated func remove(at place: Int) {
        for watcher in book.withLock({ $0.machine.remove(place) }) { _ = watcher.deliver(()) }
    }

    /// Takes a request off the list whose place is still to be removed: those who wait for the last wait for it too.
    nonisolated func unlist(at place: Int) {
        book.withLock { $0.machine.unlist(place) }
    }

    /// Takes no more requests.
    nonisolated func close() {
        book.withLock { $0.machine.close() }
    }

    /// Takes requests again, carried by another.
    nonisolated func open(_ carrier: Carrier) {
        book.withLock { book in
            book.carrier = carrier
            book.machine.open()
        }
    }

    nonisolated var isClosed: Bool { book.withLock { $0.machine.isClosed } }
    nonisolated var carrier: Carrier { book.withLock { $0.carrier } }

    public nonisolated var count: Int { book.withLock { $0.machine.running.count } }

    /// Whether there is no other request than the one that asks, before it has entered.
    nonisolated var isEmpty: Bool { book.withLock { $0.machine.count == 0 } }

    /// A picture of every running request, oldest first.
    public nonisolated var all: [TaskSnapshot] {
        let now = loop.now()
        return delegates.map { $0.snapshot(at: now) }
    }

    /// A picture of every running request of one kind, oldest first.
    public nonisolated func all(_ kind: HTTPSession.TaskKind) -> [TaskSnapshot] {
        all.filter { $0.kind == kind }
    }

    /// A picture of every running request with this tag, oldest first.
    public nonisolated func all(tagged tag: String) -> [TaskSnapshot] {
        all.filter { $0.tags.contains(tag) }
    }

    public nonisolated subscript(_ id: TaskID) -> TaskDelegate? {
        book.withLock { $0.machine.running }.first { $0.id == id }
    }

    /// A request that is neither held nor over, should there be one.
    nonisolated var anyActive: TaskDelegate? { book.withLock { $0.machine.first(where: \.isActive) } }

    private nonisolated var delegates: [TaskDelegate] {
        book.withLock { $0.machine.running }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Lets a request go before or behind others that wait for their turn or for a connection, and counts at once.
    /// False if it is not running, or if nobody was there to watch it when it began.
    @discardableResult
    public nonisolated func setPriority(_ priority: RequestPriority, of id: TaskID) -> Bool {
        self[id]?.setPriority(priority) ?? false
    }

    /// Stops one request; false if it is not running.
    @discardableResult
    public nonisolated func cancel(_ id: TaskID) -> Bool {
        guard let delegate = self[id] else { return false }
        delegate.cancel()
        return true
    }

    /// Stops every request with this tag; how many there were.
    @discardableResult
    public nonisolated func cancel(tagged tag: String) -> Int {
        let stopped = inOrderOfEnding.filter { $0.tags.contains(tag) }
        for delegate in stopped { delegate.cancel() }
        return stopped.count
    }

    /// Stops every request and returns how many there were, once the last has told its caller.
    ///
    /// Must not be awaited by one of the requests it stops, such as inside a stream's scope.
    @discardableResult
    public func cancelAll() async -> Int {
        let stopped = inOrderOfEnding
        for delegate in stopped { delegate.cancel() }
        await drain(until: .never)
        return stopped.count
    }

    /// Who waits for a turn or a connection first, or it might be given what another just left; then the newest first.
    private nonisolated var inOrderOfEnding: [TaskDelegate] {
        let newestFirst = delegates.reversed()
        return newestFirst.filter { $0.interrupt.phase == .pool } + newestFirst.filter { $0.interrupt.phase != .pool }
    }

    /// Returns once nothing runs any more and every caller has been told, those that come meanwhile included. Throws
    /// `CancellationError` when the awaiting task is cancelled, which cancels no request.
    ///
    /// Must not be awaited by a request, such as inside a stream's scope. One that is never let go never ends.
    public nonisolated func drain() async throws {
        let interrupt = Interrupt()
        try await withTaskCancellationHandler {
            await drain(until: .never, interrupt)
            if interrupt.cause != nil { throw CancellationError() }
        } onCancel: {
            interrupt.cancel(.task)
        }
    }

    /// Waits until nothing runs any more or the time has come.
    nonisolated func drain(until deadline: MonotonicTime, _ interrupt: Interrupt? = nil) async {
        let watcher = Parking<Void>(on: loop)
        guard let number = book.withLock({ $0.machine.watch(watcher) }) else { return }
        _ = await watcher.wait(until: deadline, interrupt: interrupt)
        book.withLock { $0.machine.leave(number) }
    }

    /// Waits until a request is over; one that is not on the list is.
    nonisolated func waitForEnd(
        of id: TaskID, until deadline: MonotonicTime, _ interrupt: Interrupt
    ) async -> Parking<Void>.Outcome {
        let parking = Parking<Void>(on: loop)
        guard let following = book.withLock({ $0.machine.follow(parking) { $0.id == id } }) else { return .value(()) }
        let outcome = await parking.wait(until: deadline, interrupt: interrupt)
        book.withLock { $0.machine.leave(following) }
        return outcome
    }
}
