internal import DunlinReactor
internal import Synchronization

/// Every running request of a session, by id, and the chain that the next goes through.
///
/// The actor is for what takes time: cancelling all and waiting for them. The book itself stands under a lock, because
/// each request enters and leaves it: as actor calls the two cost a request on the loop four job switches, two
/// allocations and a quarter of its instructions (see Docs/Concurrency.md).
public actor TaskRegistry {
    private struct Book {
        var machine = RegistryMachine<TaskDelegate, RegistryWatcher>()
        var chain: Chain
    }

    /// What a request gets when it enters.
    struct Admission {
        /// To leave from.
        let place: Int
        let chain: Chain
    }

    private nonisolated let book: Mutex<Book>
    private nonisolated let loop: Reactor
    /// Whether anybody wants to know when requests end.
    private nonisolated let hasOnlookers = Atomic<Bool>(false)

    init(_ chain: Chain, on loop: Reactor) {
        book = Mutex(Book(chain: chain))
        self.loop = loop
    }

    /// Enters a request, which must leave again.
    nonisolated func add(_ delegate: TaskDelegate) throws -> Admission {
        let admission = book.withLock { book in
            book.machine.add(delegate).map { Admission(place: $0, chain: book.chain) }
        }
        return try admission ?? admit(delegate)
    }

    private nonisolated func admit(_ delegate: TaskDelegate) throws -> Admission {
        let admitted = book.withLock { book in
            book.machine.admit(delegate, moves: delegate.isActive).map {
                (Admission(place: $0.place, chain: book.chain), $0.told)
            }
        }
        guard let (admission, told) = admitted else { throw NetworkError(.sessionClosed, "the session is shut down") }
        for watcher in told { watcher.tell() }
        return admission
    }

    /// Empties a place, of a request or of what is none.
    nonisolated func remove(at place: Int, isRequest: Bool = true) {
        let now = isRequest && hasOnlookers.load(ordering: .relaxed) ? loop.now() : nil
        if !book.withLock({ $0.machine.remove(place, at: now) }) { dismiss(place, at: now) }
    }

    private nonisolated func dismiss(_ place: Int, at now: MonotonicTime?) {
        for watcher in book.withLock({ $0.machine.dismiss(place, at: now) }) { watcher.tell() }
    }

    /// Takes a request off the list whose place is still to be removed: those who wait for the last wait for it too.
    nonisolated func unlist(at place: Int) {
        book.withLock { $0.machine.unlist(place) }
    }

    /// Takes no more requests.
    nonisolated func close() {
        book.withLock { $0.machine.close() }
    }

    /// Takes requests again, through another chain.
    nonisolated func open(_ chain: Chain) {
        book.withLock { book in
            book.chain = chain
            book.machine.open()
        }
    }

    nonisolated var isClosed: Bool { book.withLock { $0.machine.isClosed } }
    nonisolated var chain: Chain { book.withLock { $0.chain } }

    public nonisolated var count: Int { book.withLock { $0.machine.running.count } }

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
    /// Within a request, in a hook of its or in a stream's scope, it leaves that out: the request goes on, is not
    /// counted and not waited for; nor are others that wait like this within theirs. When the awaiting task is
    /// cancelled, it returns without waiting any longer; what was stopped ends by itself.
    @discardableResult
    public func cancelAll() async -> Int {
        let within = Enclosure.subjects
        let stopped = inOrderOfEnding.filter { !within.contains(.request($0.id)) }
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
    /// Within a request, in a hook of its or in a stream's scope, that one is not waited for; nor are others that wait
    /// like this within theirs. One that is never let go never ends.
    public nonisolated func drain() async throws {
        guard await drain(until: .never) else { throw CancellationError() }
    }

    /// Waits until nothing runs any more but what the caller is within, or the time has come. False if the awaiting
    /// task was cancelled before.
    @discardableResult
    nonisolated func drain(until deadline: MonotonicTime) async -> Bool {
        let within = Enclosure.subjects
        let (watcher, interrupt) = (Parking<Void>(on: loop), Interrupt())
        let (number, told) = book.withLock {
            $0.machine.watch(.parked(watcher)) { within.contains(.request($0.id)) }
        }
        for watcher in told { watcher.tell() }
        guard let number else { return true }
        await withTaskCancellationHandler {
            _ = await watcher.wait(until: deadline, interrupt: interrupt)
        } onCancel: {
            interrupt.cancel(.task)
        }
        book.withLock { $0.machine.leave(number) }
        return interrupt.cause == nil
    }

    /// Waits until a request is over; one that is not on the list is.
    nonisolated func waitForEnd(
        of id: TaskID, until deadline: MonotonicTime, _ interrupt: Interrupt
    ) async -> Parking<Void>.Outcome {
        let parking = Parking<Void>(on: loop)
        guard let following = book.withLock({ $0.machine.follow(.parked(parking)) { $0.id == id } }) else {
            return .value(())
        }
        let outcome = await parking.wait(until: deadline, interrupt: interrupt)
        book.withLock { $0.machine.leave(following) }
        return outcome
    }
}

// MARK: - Looking on

extension TaskRegistry {
    /// Rings `bell` for what `look` asks for, and whenever a request is held or let go, until `part`.
    nonisolated func join(_ bell: AsyncStream<Void>.Continuation) -> UInt64 {
        book.withLock { book in
            hasOnlookers.store(true, ordering: .relaxed)
            return book.machine.join(.ringing(bell))
        }
    }

    nonisolated func part(_ onlooker: UInt64) {
        book.withLock { book in
            book.machine.part(onlooker)
            hasOnlookers.store(book.machine.hasOnlookers, ordering: .relaxed)
        }
    }

    /// Whether any request moves, and what the next ring is to be for.
    nonisolated func look(_ onlooker: UInt64, for news: News) -> (isBusy: Bool, ends: Ends, now: MonotonicTime) {
        let now = loop.now()
        let sight = book.withLock { $0.machine.look(onlooker, for: news, where: \.isActive) }
        return (sight.isBusy, sight.ends, now)
    }

    /// A request was held, or let go.
    nonisolated func noteHold(_ isHeld: Bool) {
        let time = isHeld ? loop.now() : nil
        for watcher in book.withLock({ $0.machine.noteHold(since: time) }) { watcher.tell() }
    }
}

/// Who is told of something by a registry, outside its lock.
enum RegistryWatcher: Sendable {
    case parked(Parking<Void>)
    case ringing(AsyncStream<Void>.Continuation)

    func tell() {
        switch self {
        case .parked(let parking): _ = parking.deliver(())
        case .ringing(let bell): bell.yield()
        }
    }
}
