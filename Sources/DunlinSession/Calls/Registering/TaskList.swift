internal import DunlinReactor
internal import Synchronization

/// The calls of one session that run on one loop. The list is isolated to that loop, as they are, so entering and
/// leaving it needs no switch of executor.
actor TaskList {
    nonisolated let loop: Reactor
    private var machine = RegistryMachine<TaskDelegate, RegistryObserver>()
    /// Whether there are observers; read from any thread when a request is suspended or resumed.
    private nonisolated let hasObservers = Atomic<Bool>(false)
    /// The times at which requests were suspended, and nil for each resumption, while there are observers.
    private nonisolated let suspensions = AsyncStream<HTTP.Instant?>.makeStream()
    /// Reports them to observers. The task begins with the first observer and ends with the list, which it does not
    /// retain.
    private var suspensionReader: Task<Void, Never>?

    init(on loop: Reactor) {
        self.loop = loop
    }

    deinit {
        suspensions.continuation.finish()
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
}

// MARK: - Entering and leaving

extension TaskList {
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
        if let slot = machine.add(delegate, of: era) { return slot }
        do {
            let (slot, informed) = try machine.admit(delegate, of: era, moves: delegate.isActive)
            tell(informed)
            return slot
        } catch .closed {
            throw TaskRegistry.closed
        } catch .cancelled {
            delegate.stream?.cancellation.cancel(.handle)
            throw NetworkError(.cancelled, "all requests were cancelled", isSafeToRetry: true)
        }
    }

    /// Removes what has this slot: a request, or a connection that was opened ahead of need.
    func remove(at slot: Int, isRequest: Bool = true) {
        let now = isRequest && machine.hasObservers ? loop.now() : nil
        if !machine.remove(slot, at: now) { tell(machine.end(slot, at: now)) }
    }

    /// Takes a request off the list before its slot is emptied; waiters for the last request also wait for the
    /// removal.
    func unlist(at slot: Int) {
        machine.unlist(slot)
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

    private func tell(_ observers: [RegistryObserver]) {
        for observer in observers { observer.tell() }
    }
}

// MARK: - Waiting

extension TaskList {
    var arrivals: UInt64 { machine.arrivals }

    /// Adds a waiter for the end of the last request (of this era and earlier ones, if it is over).
    func observeEnd(upTo era: UInt64?) -> UInt64 { machine.observeEnd(upTo: era) }

    /// Adds somebody within these requests who waits somewhere, in another list or for another session's.
    func leaveOut(_ subjects: Set<Enclosure.Subject>) -> UInt64 {
        let (id, informed) = machine.leaveOut { subjects.contains(.request($0.id)) }
        tell(informed)
        return id
    }

    /// Waits for that. Returns false if it was cancelled or the deadline came first.
    func wait(
        _ id: UInt64, isWithin: Bool, until deadline: HTTP.Instant, _ cancellation: Cancellation
    ) async -> Bool {
        let waiter = ValueWaiter<Void>(on: loop)
        guard machine.wait(id, isWithin: isWithin, .waiter(waiter)) else { return true }
        if case .value = await waiter.wait(until: deadline, cancellation: cancellation) { return true }
        return false
    }

    func leave(_ id: UInt64) {
        machine.leave(id)
    }

    /// Waits until a request is over; nil if it is not listed.
    func waitForEnd(
        of id: HTTPSession.TaskID, until deadline: HTTP.Instant, _ cancellation: Cancellation
    ) async -> ValueWaiter<Void>.Outcome? {
        let waiter = ValueWaiter<Void>(on: loop)
        guard let observer = machine.observeRequest(.waiter(waiter), { $0.id == id }) else { return nil }
        let outcome = await waiter.wait(until: deadline, cancellation: cancellation)
        machine.leave(observer)
        return outcome
    }
}

// MARK: - Observing

extension TaskList {
    /// Calls `ring` for what `look` asks for, and whenever a request is suspended or resumed, until `remove`.
    func join(_ ring: @escaping @Sendable () -> Void) -> UInt64 {
        if suspensionReader == nil {
            suspensionReader = Task.detached(executorPreference: loop) { [weak self, stream = suspensions.stream] in
                for await time in stream { await self?.note(holdSince: time) }
            }
        }
        hasObservers.store(true, ordering: .sequentiallyConsistent)
        return machine.join(.closure(ring))
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

/// An observer of a list.
enum RegistryObserver: Sendable {
    case waiter(ValueWaiter<Void>)
    case closure(@Sendable () -> Void)

    func tell() {
        switch self {
        case .waiter(let waiter): _ = waiter.deliver(())
        case .closure(let ring): ring()
        }
    }
}
