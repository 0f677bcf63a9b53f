internal import DunlinReactor
internal import Synchronization

/// The calls of one session that run on one loop. The book is isolated to that loop, as they are, so entering and
/// leaving it needs no switch of executor.
actor TaskBook {
    nonisolated let loop: Reactor
    private var machine = RegistryMachine<TaskDelegate, RegistryObserver>()
    /// Whether there are observers; read from any thread when a request is suspended or resumed.
    private nonisolated let hasObservers = Atomic<Bool>(false)
    /// The times at which requests were suspended, and nil for each resumption, while there are observers.
    private nonisolated let suspensions = AsyncStream<HTTP.Instant?>.makeStream()
    /// Reports them to observers. The task begins with the first observer and ends with the book, which it does not
    /// retain.
    private var telling: Task<Void, Never>?

    init(on loop: Reactor) {
        self.loop = loop
    }

    deinit {
        suspensions.continuation.finish()
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
}

// MARK: - Entering and leaving

extension TaskBook {
    /// Adds a request, which must be removed again. If called on the loop, it is added before anything else runs there.
    nonisolated func enter(_ delegate: TaskDelegate, of era: UInt64) async throws -> Int {
        loop.isCurrent ? try addHere(delegate, of: era) : try await add(delegate, of: era)
    }

    /// Adds a request on the loop's thread, where nothing else runs meanwhile.
    private nonisolated func addHere(_ delegate: TaskDelegate, of era: UInt64) throws -> Int {
        try assumeIsolated { try $0.add(delegate, of: era) }
    }

    /// Adds a request that has begun; it must be removed again.
    func add(_ delegate: TaskDelegate, of era: UInt64) throws -> Int {
        if let place = machine.add(delegate, of: era) { return place }
        do {
            let (place, told) = try machine.admit(delegate, of: era, moves: delegate.isActive)
            tell(told)
            return place
        } catch .closed {
            throw TaskRegistry.closed
        } catch .cancelled {
            throw NetworkError(.cancelled, "all requests were cancelled", isSafeToRetry: true)
        }
    }

    /// Removes what has this place: a request, or a connection that was opened ahead of need.
    func remove(at place: Int, isRequest: Bool = true) {
        let now = isRequest && machine.hasObservers ? loop.now() : nil
        if !machine.remove(place, at: now) { tell(machine.dismiss(place, at: now)) }
    }

    /// Takes a request off the list before its place is removed; waiters for the last request also wait for the
    /// removal.
    func unlist(at place: Int) {
        machine.unlist(place)
    }

    /// Refuses requests that were made up to this era.
    func close(_ era: UInt64) {
        machine.close(era)
    }

    /// Refuses requests that were made up to this era. Returns the running ones, which the caller must cancel.
    func cancel(_ era: UInt64) -> [TaskDelegate] {
        machine.cancel(era)
        return machine.running(upTo: era)
    }

    var running: [TaskDelegate] { machine.running }

    func running(upTo era: UInt64) -> [TaskDelegate] { machine.running(upTo: era) }

    private func tell(_ watchers: [RegistryObserver]) {
        for watcher in watchers { watcher.tell() }
    }
}

// MARK: - Waiting

extension TaskBook {
    var arrivals: UInt64 { machine.arrivals }

    /// Adds a waiter for the end of the last request (of this era and earlier ones, if it is over), which may be within
    /// some of the enclosures.
    func watch(upTo era: UInt64?, within enclosures: Set<Enclosure.Subject>) -> (id: UInt64, isWithin: Bool) {
        let watch = machine.watch(upTo: era) { enclosures.contains(.request($0.id)) }
        tell(watch.told)
        return (watch.id, watch.isWithin)
    }

    /// Waits for that. Returns false if it was cancelled or the deadline came first.
    func wait(
        _ watch: UInt64, isWithin: Bool, until deadline: HTTP.Instant, _ cancellation: Cancellation
    ) async -> Bool {
        let waiter = ValueWaiter<Void>(on: loop)
        guard machine.wait(watch, isWithin: isWithin, .parked(waiter)) else { return true }
        if case .value = await waiter.wait(until: deadline, cancellation: cancellation) { return true }
        return false
    }

    func leave(_ watch: UInt64) {
        machine.leave(watch)
    }

    /// Waits until a request is over; nil if it is not listed.
    func waitForEnd(
        of id: HTTPSession.TaskID, until deadline: HTTP.Instant, _ cancellation: Cancellation
    ) async -> ValueWaiter<Void>.Outcome? {
        let waiter = ValueWaiter<Void>(on: loop)
        guard let following = machine.follow(.parked(waiter), { $0.id == id }) else { return nil }
        let outcome = await waiter.wait(until: deadline, cancellation: cancellation)
        machine.leave(following)
        return outcome
    }
}

// MARK: - Looking on

extension TaskBook {
    /// Calls `ring` for what `look` asks for, and whenever a request is suspended or resumed, until `remove`.
    func join(_ ring: @escaping @Sendable () -> Void) -> UInt64 {
        if telling == nil {
            telling = Task.detached(executorPreference: loop) { [weak self, stream = suspensions.stream] in
                for await time in stream { await self?.note(holdSince: time) }
            }
        }
        hasObservers.store(true, ordering: .sequentiallyConsistent)
        return machine.join(.ringing(ring))
    }

    func remove(observer: UInt64) {
        machine.remove(observer: observer)
        hasObservers.store(machine.hasObservers, ordering: .sequentiallyConsistent)
    }

    /// Whether any request is active, and how many ended. `news` says what to ring for next.
    func look(_ observer: UInt64, for news: News) -> (isBusy: Bool, ends: Ends) {
        let observation = machine.look(observer, for: news, where: \.isActive)
        return (observation.isBusy, observation.ends)
    }

    /// Notes that a request was suspended or resumed.
    nonisolated func noteSuspension(_ isSuspended: Bool) {
        guard hasObservers.load(ordering: .sequentiallyConsistent) else { return }
        suspensions.continuation.yield(isSuspended ? loop.now() : nil)
    }

    private func note(holdSince time: HTTP.Instant?) {
        tell(machine.noteSuspension(since: time))
    }
}

/// An observer of a book.
enum RegistryObserver: Sendable {
    case parked(ValueWaiter<Void>)
    case ringing(@Sendable () -> Void)

    func tell() {
        switch self {
        case .parked(let waiter): _ = waiter.deliver(())
        case .ringing(let ring): ring()
        }
    }
}
