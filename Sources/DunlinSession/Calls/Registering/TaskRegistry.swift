internal import DunlinReactor
internal import Synchronization

/// The running requests of a session, by ID, and the chain for new ones.
///
/// Each request is in the list of its loop. The registry collects from all lists, so a query for all requests includes
/// every one made before.
public actor TaskRegistry {
    /// The state that applies to a session's calls from one shutdown or `cancelAll` to the next.
    struct Era: Sendable {
        fileprivate(set) var number: UInt64
        fileprivate(set) var chain: Chain
        fileprivate(set) var isClosed = false
        /// The number of times that the session was closed.
        fileprivate(set) var closings: UInt64 = 0
    }

    /// A closing of the session, and what it ends.
    struct Closing: Sendable {
        let number: UInt64
        /// The chain of the running requests.
        let chain: Chain
        /// The last era that it ends; later requests are not affected.
        let era: UInt64
    }

    /// One list for each loop.
    nonisolated let lists: [TaskList]
    /// The current era, which each new call copies.
    private nonisolated let present: Mutex<Era>
    /// The numbers of each observer in the lists.
    private var observers: [UInt64: [UInt64]] = [:]
    private var lastObserver: UInt64 = 0
    private var streams = ListedStreams()

    init(_ chain: Chain, on loops: [Reactor]) {
        lists = loops.map(TaskList.init)
        present = Mutex(Era(number: 1, chain: chain))
    }

    /// The current era. Throws if the session is shut down.
    nonisolated var era: Era {
        get throws {
            let era = present.withLock { $0 }
            if era.isClosed { throw Self.closed }
            return era
        }
    }

    static var closed: NetworkError {
        NetworkError(.sessionShutDown, "the session is shut down; make another, or call `restart()`")
    }

    nonisolated var isClosed: Bool { present.withLock { $0.isClosed } }
    nonisolated var chain: Chain { present.withLock { $0.chain } }

    /// Accepts no more requests; those already made that are still on their way to their loop are refused there.
    nonisolated func close() async -> Closing {
        let era = present.withLock { era in
            era.isClosed = true
            era.closings += 1
            return era
        }
        for list in lists { await list.close(era.number) }
        return Closing(number: era.closings, chain: era.chain, era: era.number)
    }

    /// Accepts requests again, through another chain, unless the session was closed again since that closing. `opening`
    /// opens what belongs to the session at the same moment.
    nonisolated func open(_ chain: Chain, after closing: UInt64? = nil, _ opening: () -> Void = {}) {
        present.withLock { era in
            guard closing == nil || closing == era.closings else { return }
            opening()
            era = Era(number: era.number + 1, chain: chain, closings: era.closings)
        }
    }

    /// Runs `act` with no reopening in between. It must not call out.
    nonisolated func withoutOpening<Value>(_ act: () -> Value) -> Value { present.withLock { _ in act() } }
}

// MARK: - Who runs

extension TaskRegistry {
    public var count: Int {
        get async {
            var count = 0
            for list in lists { count += await list.running.count }
            return count
        }
    }

    /// Snapshots of all running requests, oldest first.
    public var all: [HTTPSession.TaskSnapshot] {
        get async { await delegates.map { $0.snapshot(at: $0.loop.now()) } }
    }

    /// Snapshots of the running requests of one kind, oldest first.
    public func all(_ kind: HTTPSession.TaskKind) async -> [HTTPSession.TaskSnapshot] {
        await all.filter { $0.kind == kind }
    }

    /// Snapshots of the running requests with this tag, oldest first.
    public func all(tagged tag: String) async -> [HTTPSession.TaskSnapshot] {
        await all.filter { $0.tags.contains { $0.hasSameBytes(as: tag) } }
    }

    public subscript(_ id: HTTPSession.TaskID) -> TaskDelegate? {
        get async {
            for list in lists {
                if let delegate = await list.running.first(where: { $0.id == id }) { return delegate }
            }
            return nil
        }
    }

    private var delegates: [TaskDelegate] {
        get async {
            var delegates: [TaskDelegate] = []
            for list in lists { delegates += await list.running }
            return delegates.sorted { $0.id.rawValue < $1.id.rawValue }
        }
    }
}

// MARK: - Stopping

extension TaskRegistry {
    /// Adds a stream of events, from before its first attempt to its end.
    func list(_ stream: ListedStream) { streams.add(stream) }

    /// Cancels one request, and with an attempt at a stream of events the whole stream. Returns false if it is not
    /// running.
    @discardableResult
    public func cancel(_ id: HTTPSession.TaskID) async -> Bool {
        cancel(await delegates.filter { $0.id == id }) { $0.attemptID == id.rawValue } > 0
    }

    /// Cancels the requests with this tag. Returns how many there were; a stream of events counts once.
    @discardableResult
    public func cancel(tagged tag: String) async -> Int {
        cancel(await delegates.filter { $0.hasTag(tag) }) { $0.tags.contains { $0.hasSameBytes(as: tag) } }
    }

    /// Cancels every request. Returns how many there were, after the last one has told its caller. A request already
    /// made that is still on its way to its loop fails as cancelled. A stream of events ends too, and counts once.
    ///
    /// If called within a request (in one of its hooks or a stream's scope), it excludes that request, which continues
    /// and is neither counted nor waited for. Nor does it wait for requests whose own code waits in such a call, for
    /// requests of whatever session. If the awaiting task is cancelled, it returns at once; the cancelled requests end
    /// by themselves. It does not wait for requests made meanwhile.
    @discardableResult
    public func cancelAll() async -> Int {
        // One of these may come with its next attempt, and be refused, before it is looked for below.
        let listed = streams.all.filter { $0.cancellation.cause == nil }
        let number = present.withLock { era in
            defer { era.number += 1 }
            return era.number
        }
        var running: [TaskDelegate] = []
        for list in lists { running += await list.cancel(number) }
        let count = cancelOthers(running, listed)
        await waitUntilEmpty(until: .never, upTo: number)
        return count
    }

    /// Cancels what a closing ends. The session's own calls are not counted.
    func cancelAll(of closing: Closing, uncounted: Set<HTTPSession.TaskID>) async -> Int {
        var running: [TaskDelegate] = []
        for list in lists { running += await list.running(upTo: closing.era) }
        let count = cancelOthers(running, uncounted: uncounted)
        await waitUntilEmpty(until: .never, upTo: closing.era)
        return count
    }

    /// Cancels what the caller is not within. Returns how many there were.
    private func cancelOthers(
        _ delegates: [TaskDelegate], _ listed: [ListedStream] = [], uncounted: Set<HTTPSession.TaskID> = []
    ) -> Int {
        let within = Enclosure.subjects
        return cancel(delegates.filter { !within.contains(.request($0.id)) }, listed, uncounted: uncounted) {
            !within.contains(.request(HTTPSession.TaskID(rawValue: $0.attemptID)))
        }
    }

    /// Cancels these requests: first those that wait for a turn or a connection, since they might otherwise get what
    /// another has just released; then the newest first. Cancels streams of events too, which may be between two
    /// attempts. Returns how many there were.
    private func cancel(
        _ delegates: [TaskDelegate], _ listed: [ListedStream] = [], uncounted: Set<HTTPSession.TaskID> = [],
        streams isMeant: (ListedStream) -> Bool
    ) -> Int {
        let newestFirst = delegates.sorted { $0.id.rawValue > $1.id.rawValue }
        let phases = newestFirst.map(\.cancellation.phase)
        for (delegate, phase) in zip(newestFirst, phases) where phase == .pool { delegate.cancel() }
        for (delegate, phase) in zip(newestFirst, phases) where phase != .pool { delegate.cancel() }
        let idle = streams.all.filter { $0.cancellation.cause == nil && isMeant($0) }
        for stream in idle { stream.cancellation.cancel(.handle) }
        let refused = listed.filter { $0.cancellation.cause != nil && isMeant($0) }
        let cancelled = Set((delegates.compactMap(\.stream) + idle + refused).map(ObjectIdentifier.init))
        return delegates.count { $0.stream == nil && !uncounted.contains($0.id) } + cancelled.count
    }
}

// MARK: - Waiting

extension TaskRegistry: EnclosingRequests {
    /// Returns when no request runs and every caller has been told, including requests made meanwhile. Throws
    /// `CancellationError` if the awaiting task is cancelled, which cancels no request.
    ///
    /// If called within a request (in one of its hooks or a stream's scope), of whatever session, it does not wait for
    /// that request, nor for requests whose own code waits in such a call. It does wait for those that need what that
    /// request has, such as its turn. A request that is never resumed never ends, nor does one suspended before its
    /// turn, until it is resumed or cancelled.
    public func waitUntilEmpty() async throws {
        guard await waitUntilEmpty(until: .never) else { throw CancellationError() }
    }

    /// Waits until nothing runs except what the caller is within, or the deadline comes; with an era that is over, only
    /// for requests of this era and earlier ones. Returns false if the awaiting task was cancelled first.
    @discardableResult
    nonisolated func waitUntilEmpty(until deadline: HTTP.Instant, upTo era: UInt64? = nil) async -> Bool {
        // The requests that the caller is within are left out before the first wait.
        await Enclosure.waiting { isWithin in
            let cancellation = Cancellation()
            var ids: [UInt64] = []
            for list in lists { ids.append(await list.observeEnd(upTo: era)) }
            let isServed = await withTaskCancellationHandler {
                await wait(ids, upTo: era, isWithin: isWithin, until: deadline, cancellation)
            } onCancel: {
                cancellation.cancel(.task)
            }
            for (list, id) in zip(lists, ids) { await list.leave(id) }
            return isServed || cancellation.cause == nil
        }
    }

    /// Waits for one list after another, and again if requests have come meanwhile: the first may have filled while the
    /// last was awaited. Returns false if it was cancelled or the deadline came first.
    private nonisolated func wait(
        _ ids: [UInt64], upTo era: UInt64?, isWithin: Bool, until deadline: HTTP.Instant,
        _ cancellation: Cancellation
    ) async -> Bool {
        var known: [UInt64]?
        while true {
            for (list, id) in zip(lists, ids) {
                guard await list.wait(id, isWithin: isWithin, until: deadline, cancellation) else { return false }
            }
            let arrivals = await arrivals
            if era != nil || lists.count == 1 || arrivals == known { return true }
            known = arrivals
        }
    }

    nonisolated func leaveOut(_ subjects: Set<Enclosure.Subject>) async -> [UInt64] {
        var numbers: [UInt64] = []
        for list in lists { numbers.append(await list.leaveOut(subjects)) }
        return numbers
    }

    nonisolated func readmit(_ leftOut: [UInt64]) async {
        for (list, number) in zip(lists, leftOut) { await list.leave(number) }
    }

    private nonisolated var arrivals: [UInt64] {
        get async {
            var arrivals: [UInt64] = []
            for list in lists { arrivals.append(await list.arrivals) }
            return arrivals
        }
    }

    /// Waits until a request is over. One that is not listed is over.
    nonisolated func waitForEnd(
        of id: HTTPSession.TaskID, until deadline: HTTP.Instant, _ cancellation: Cancellation
    ) async -> ValueWaiter<Void>.Outcome {
        for list in lists {
            if let outcome = await list.waitForEnd(of: id, until: deadline, cancellation) { return outcome }
        }
        return .value(())
    }
}

// MARK: - Observing

extension TaskRegistry {
    /// Calls `ring` for the news that `look` asks for, and whenever a request is suspended or resumed, until `remove`.
    /// `ring` is called on the session's loops and must not wait there.
    package func join(_ ring: @escaping @Sendable () -> Void) async -> UInt64 {
        lastObserver += 1
        let id = lastObserver
        var numbers: [UInt64] = []
        for list in lists { numbers.append(await list.join(ring)) }
        observers[id] = numbers
        return id
    }

    package func remove(observer: UInt64) async {
        guard let numbers = observers.removeValue(forKey: observer) else { return }
        for (list, number) in zip(lists, numbers) { await list.remove(observer: number) }
    }

    /// Returns whether any request is active, how many ended, and the time. `news` says what to ring for next: one end
    /// is enough to look again.
    package func look(_ observer: UInt64, for news: News) async -> (isBusy: Bool, ends: Ends, now: HTTP.Instant) {
        var (isBusy, ends) = (false, Ends())
        for (list, number) in zip(lists, observers[observer] ?? []) {
            let observation = await list.look(number, for: isBusy ? .nothing : news)
            isBusy = isBusy || observation.isBusy
            ends.add(observation.ends)
        }
        return (isBusy, ends, lists[0].loop.now())
    }
}
