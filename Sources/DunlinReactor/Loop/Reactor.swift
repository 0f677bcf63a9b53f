internal import CEpoll
public import DunlinTypes
internal import Glibc
internal import Synchronization

/// An epoll loop on a thread of its own that is also an executor: of tasks that prefer it, and of actors pinned to it.
///
/// Rules:
/// 1. Each descriptor is registered once, edge-triggered, for both directions; the loop only says "try".
/// 2. Jobs that arrive on the loop's own thread go to a ring that only this thread uses: no lock, no wake-up. Jobs from
///    elsewhere are added under the lock, and the eventfd is written only when the loop really sleeps. `JobTurns`
///    decides whose turn it is.
/// 3. Only tables and queues are under the lock: never a system call, a resume or a callback.
/// 4. Isolation is the actors'. A job of a pinned actor runs as that actor's; a job of a task that only prefers the
///    loop is isolated to nothing, and goes to an actor and back as from any other thread. Being on the loop's thread
///    is only faster: what is reached from here by other means must protect itself. But the thread runs one job at a
///    time, so `assumeIsolated` holds for the loop's actors wherever it is used on it.
/// 5. A retired loop ends as soon as nothing is registered. Jobs that still come run on the global executor, those of
///    pinned actors one at a time, in order of arrival.
// SAFETY: what `own` points to is touched only by the loop's thread, which `isCurrent` tells apart; all other state is
// immutable, atomic or inside `shared`. It is a pointer because a stored property would be checked for exclusive access
// six times a request.
public final class Reactor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private let own: UnsafeMutablePointer<Own>

    private struct Own {
        var jobs = JobTurns()
        /// Whether the loop had observers when it last looked under the lock.
        var isObserved = false
        /// Whether the loop does its other work before the next job, however few have run.
        var endsBurst = false
        /// Tasks that are about to go to another executor.
        var leaving: [UnsafeContinuation<Void, Never>] = []
        var ready: [(channel: Channel, events: UInt32)] = []
        var events = [epoll_event](repeating: epoll_event(), count: 256)
    }

    struct Shared {
        var arrived = JobRing()
        var slots = Slots()
        var deadlines = DeadlineQueue()
        var isSleeping = false
        var life = Life.running
        /// Whether a task runs the jobs that arrived after the loop's end.
        var isServed = false
        var turnObservers = TurnObservers()

        /// Takes in a job that comes from elsewhere.
        fileprivate mutating func arrive(_ job: LoopJob) -> Arrival {
            if case (.gone, .task(let job)) = (life, job) { return .runElsewhere(job) }
            arrived.append(job)
            if life == .gone {
                defer { isServed = true }
                return isServed ? .none : .serve
            }
            defer { isSleeping = false }
            return isSleeping ? .wake : .none
        }
    }

    enum Life {
        case running
        case retiring
        case gone
    }

    /// What to do about a job that has come from elsewhere.
    fileprivate enum Arrival {
        case none
        case wake
        case runElsewhere(UnownedJob)
        case serve
    }

    /// How many jobs run before the kernel is asked again for events.
    private static let burst = 256

    public let time: TimeSource
    public let ledger: Ledger
    let epoll: Int32
    private let wakeup: Int32
    private let thread = Atomic<UInt>(0)
    /// The thread that runs jobs of pinned actors after the loop's end.
    private let lateThread = Atomic<UInt>(0)
    let shared = Mutex(Shared())
    /// When the loop last asked the kernel for all events, by `lookTime`: every earlier edge has been passed on.
    let lastPoll = Atomic<Int64>(0)

    /// The time of looks at sockets: the kernel's own, whatever clock the loop has.
    static var lookTime: HTTP.Instant { TimeSource.monotonic.now() }

    /// Starts a loop. It runs until `retire()`.
    public init(
        name: String = "dunlin", time: TimeSource = .monotonic, ledger: Ledger = Ledger()
    ) throws(Errno) {
        self.time = time
        self.ledger = ledger
        epoll = try Descriptor.raised(dunlin_epoll_create())
        do throws(Errno) {
            wakeup = try Descriptor.raised(dunlin_eventfd())
        } catch {
            Glibc.close(epoll)
            throw error
        }
        guard dunlin_epoll_add_wake(epoll, wakeup, Slots.wake) == 0 else {
            let failure = Errno.last
            Glibc.close(epoll)
            Glibc.close(wakeup)
            throw failure
        }
        own = .allocate(capacity: 1)
        own.initialize(to: Own())
        if case .manual(let manual) = time {
            manual.listen { [weak self] in self?.wake() }
        }
        // The thread owns the loop until it ends; after a failed start nobody else has a reference.
        try SystemThread.start(name: name) { self.run() }
    }

    deinit {
        close(epoll)
        close(wakeup)
        own.deinitialize(count: 1)
        own.deallocate()
    }

    public func now() -> HTTP.Instant { time.now() }

    /// Whether the caller is on the loop's thread.
    public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Lets the loop's thread end once nothing is registered any more. Returns at once; may be called on any thread.
    public func retire() {
        shared.withLock { if $0.life == .running { $0.life = .retiring } }
        wake()
    }
}

// MARK: - Jobs

extension Reactor {
    /// Adds a job of a task that prefers the loop and is on no actor, or on one that runs wherever its tasks do.
    public func enqueue(_ job: consuming ExecutorJob) { enqueue(.task(UnownedJob(job))) }

    /// Adds a job of an actor that is pinned to the loop. The function has a name of its own to tell the two apart,
    /// because the job does not say.
    @_implements(SerialExecutor,enqueue(_:))
    public func enqueueIsolated(_ job: consuming ExecutorJob) { enqueue(.isolated(UnownedJob(job))) }

    /// True on the loop's thread whatever it runs there: nothing else runs meanwhile.
    public func isIsolatingCurrentContext() -> Bool? {
        isCurrent || lateThread.load(ordering: .relaxed) == UInt(pthread_self())
    }

    private func enqueue(_ job: LoopJob) {
        if isCurrent {
            own.pointee.jobs.append(job)
            return
        }
        switch shared.withLock({ $0.arrive(job) }) {
        case .none: break
        case .wake: signal()
        case .runElsewhere(let job): globalConcurrentExecutor.enqueue(job)
        // The task keeps the loop, whose actors may be released before their last job is.
        case .serve: Task.detached { await self.runLate() }
        }
    }

    private func run(_ job: LoopJob) {
        switch job {
        case .task(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        case .isolated(let job):
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
    }

    /// Runs jobs of pinned actors that come after the loop's end, until there are no more. Only one task does so at a
    /// time.
    private func runLate() async {
        while runLateBurst() { await Task.yield() }
    }

    /// Runs some of these jobs; returns false when there are no more. It stops now and then because jobs may wait for
    /// something else that needs this thread.
    private func runLateBurst() -> Bool {
        lateThread.store(UInt(pthread_self()), ordering: .relaxed)
        for _ in 0..<Self.burst {
            let next = shared.withLock { shared in
                let job = shared.arrived.popFirst()
                // Cleared before another task may begin, which sets it to its own thread.
                if job == nil { lateThread.store(0, ordering: .relaxed) }
                shared.isServed = job != nil
                return job
            }
            guard let next else { return false }
            run(next)
        }
        lateThread.store(0, ordering: .relaxed)
        return true
    }

    /// Ends the loop's sleep, if it sleeps.
    func wake() {
        let mustWake = shared.withLock { shared in
            defer { shared.isSleeping = false }
            return shared.isSleeping
        }
        if mustWake { signal() }
    }

    func signal() {
        // Edge-triggered: every write is a new edge, so nobody has to read the counter back. It would take 2^64 writes
        // to fill it.
        var one: UInt64 = 1
        _ = write(wakeup, &one, MemoryLayout<UInt64>.size)
    }
}

// MARK: - Leaving

extension Reactor {
    /// Waits until the loop has done all its other work, so that tasks leave together and one wake-up of another thread
    /// serves many. To be awaited before a task goes from here to another executor.
    public func leave() async {
        guard isCurrent else { return }
        await withUnsafeContinuation { own.pointee.leaving.append($0) }
    }

    /// Lets the loop do all its other work: jobs, also those of other threads, deadlines and sockets. For a task that
    /// has worked long and may never have to wait. No effect on other threads.
    package func letOthersRun() async {
        guard isCurrent else { return }
        own.pointee.endsBurst = true
        await Task.yield()
    }

    private func letGo() -> Bool {
        guard !own.pointee.leaving.isEmpty else { return false }
        for task in own.pointee.leaving { task.resume() }
        own.pointee.leaving.removeAll(keepingCapacity: own.pointee.leaving.count <= 64)
        return true
    }
}

// MARK: - The loop

extension Reactor {
    private func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        while let timeout = workThenSleep() { poll(tellOfTurn() ? 0 : timeout) }
        thread.store(0, ordering: .relaxed)
    }

    /// Asks the kernel for events, sleeping if it may, and passes them on.
    private func poll(_ timeout: Int32) {
        let looked = timeout == 0 ? Self.lookTime : nil  // A look is as old as its beginning.
        let count = own.pointee.events.withUnsafeMutableBufferPointer {
            epoll_wait(epoll, $0.baseAddress, Int32($0.count), timeout)
        }
        let polled = looked ?? Self.lookTime
        collect(max(count, 0))
        // Taken from the end, which costs less than emptying the array.
        while let (channel, events) = own.pointee.ready.popLast() { channel.becameReady(events) }
        // A poll that failed has seen nothing, and one that came back full may have left events.
        guard count >= 0, count < own.pointee.events.count else { return }
        lastPoll.store(polled.nanoseconds, ordering: .releasing)
    }

    /// Looks at all sockets now, within a job of the loop: whoever is woken runs after it. No effect on other threads.
    package func look() { if isCurrent { poll(0) } }

    /// Tells the followers of a turn; returns true if that gave the loop something to do.
    private func tellOfTurn() -> Bool {
        guard own.pointee.isObserved else { return false }
        for observer in shared.withLock({ $0.turnObservers.all }) { observer() }
        return !own.pointee.jobs.isEmpty
    }

    /// Runs jobs, then returns how many milliseconds epoll may sleep; nil when the loop is over.
    ///
    /// Jobs that arrive meanwhile run before the kernel is asked (with one request at a time that saves a system call
    /// each), but only so many, so that they do not delay events.
    private func workThenSleep() -> Int32? {
        var left = Self.burst
        while true {
            while left > 0, let job = own.pointee.jobs.popFirst() {
                run(job)
                left = own.pointee.endsBurst ? 0 : left - 1
            }
            own.pointee.endsBurst = false
            own.pointee.jobs.rest()
            if letGo() { continue }
            switch shared.withLock({ nextStep(&$0) }) {
            case .run where left > 0: continue
            case .run:
                runDeadlines(at: now())
                return 0
            case .sleep(nil): return -1
            case .sleep(let deadline?):
                // The clock is read only here, once a round: what is due now is called before the loop sleeps.
                let now = now()
                if deadline > now { return milliseconds(from: now, until: deadline) }
                runDeadlines(at: now)
            case .leave: return nil
            }
        }
    }

    private enum Step {
        case run
        case sleep(until: HTTP.Instant?)
        case leave
    }

    private func nextStep(_ shared: inout Shared) -> Step {
        while let job = shared.arrived.popFirst() { own.pointee.jobs.append(job) }
        // Under the lock: an observer that begins later sees all that has been done so far.
        own.pointee.isObserved = !shared.turnObservers.isEmpty
        if !own.pointee.jobs.isEmpty { return .run }
        if shared.life == .retiring, shared.slots.count == 0 {
            shared.life = .gone
            return .leave
        }
        shared.isSleeping = true
        return .sleep(until: shared.deadlines.earliest)
    }

    private func milliseconds(from now: HTTP.Instant, until deadline: HTTP.Instant) -> Int32 {
        guard case .monotonic = time else { return -1 }
        // Rounded up: waking before the deadline would only mean sleeping again.
        let left = max(0, deadline.nanoseconds.subtractingClamped(now.nanoseconds))
        return Int32(clamping: left / 1_000_000 + (left % 1_000_000 == 0 ? 0 : 1))
    }

    /// Turns tokens into channels, the last one first, under the lock once for the whole batch.
    private func collect(_ count: Int32) {
        shared.withLock { shared in
            shared.isSleeping = false
            for position in (0..<Int(count)).reversed() {
                let token = dunlin_event_token(&own.pointee.events[position])
                guard case .channel(let channel) = shared.slots[token] else { continue }
                own.pointee.ready.append((channel, own.pointee.events[position].events))
            }
        }
    }

    private func runDeadlines(at now: HTTP.Instant) {
        while let (entry, token) = shared.withLock({ shared in
            shared.isSleeping = false
            return shared.deadlines.popExpired(at: now).map { shared.slots.current($0) }
        }) {
            switch entry {
            case .free: break
            case .channel(let channel): schedule(token, at: channel.deadlinePassed(at: now))
            case .timer(let timed): schedule(token, at: timed.deadlinePassed(at: now))
            }
        }
    }
}
