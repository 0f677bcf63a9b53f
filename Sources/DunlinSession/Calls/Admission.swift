internal import DunlinReactor
internal import DunlinTransport

/// The waits of an observed call before it is sent: until it is resumed, until the calls that it comes after have
/// ended, and until its turn.
///
/// A call that is suspended meanwhile gives up its turns and starts over; it keeps its old position in a queue. Only
/// the wait in the session's queue has a limit, `queue`; an inherited deadline always counts.
struct Admission {
    /// The wait in one queue.
    private struct QueueWait {
        let queue: RequestQueue
        /// Whether it is the session's queue. A batch's queue has no time limit.
        let isTimed: Bool
        /// The entry, if the call entered the queue before it was time to wait there.
        var entry: RequestQueue.Entry?
        var number: UInt64?
    }

    private let session: SessionCore
    private let delegate: TaskDelegate
    private let observers: RequestObservers
    private let origin: HTTP.Origin
    /// What has room of its own in the session's queue.
    private let key: String
    private let timeouts: Timeouts
    /// Whether the code that made the call waits for it. A handle's request need not be awaited.
    private let isAwaited: Bool
    private let inherited = InheritedDeadline.present
    private var deadline: HTTP.Instant { inherited?.time ?? .never }
    private var waits: [QueueWait] = []
    private var hasWaits = false
    /// How long the call has waited in the session's queue, in nanoseconds.
    private var queued: Int64 = 0

    init(
        _ session: SessionCore, _ delegate: TaskDelegate, _ observers: RequestObservers, _ head: RequestHead,
        _ timeouts: Timeouts, isAwaited: Bool
    ) {
        self.isAwaited = isAwaited
        self.session = session
        self.delegate = delegate
        self.observers = observers
        origin = head.origin
        key = session.queue?.key?(head) ?? head.origin.authority
        self.timeouts = timeouts
    }

    private var control: TransferControl { observers.control }

    /// Returns when the call may be sent. The caller must `leave` the permit when the call is over.
    mutating func pass() async throws -> Permit {
        do {
            while true {
                try await waitForResume()
                try await waitForPredecessors()
                if let permit = try await takeTurns() { return permit }
            }
        } catch {
            await giveUp()
            throw error
        }
    }

    /// Gives back what was taken, for a call that will not be sent.
    mutating func giveUp() async {
        takeWaits()
        await leaveQueues()
    }

    private mutating func waitForResume() async throws {
        repeat {
            let isInTime = await control.waitForRelease(until: deadline)
            try delegate.checkHold(isInTime, in: nil, isUnsent: true, inherited)
            takeWaits()
            // It may have been resumed briefly and given a turn that others could use.
            if control.isSuspended { await leaveQueues() }
        } while control.isSuspended
    }

    /// Collects the waits, the batch's queue first: a call that waits there must not block others in the session's
    /// queue.
    private mutating func takeWaits() {
        guard !hasWaits else { return }
        hasWaits = true
        if let batch = observers.takeBatchQueue() {
            waits.append(QueueWait(queue: batch.queue, isTimed: false, entry: batch.entry))
        }
        if let queue = session.queue, mayWait(in: queue) { waits.append(QueueWait(queue: queue, isTimed: true)) }
    }

    /// Requests that have their turn may wait for what code within them requests. A handle's request need not be
    /// awaited there, so it has its turn like others, unless it is made by the session's own code.
    private func mayWait(in queue: RequestQueue) -> Bool {
        if isAwaited { return (queue.owner ?? session.owner).mayBeAwaited(by: delegate.id) }
        return !(queue.owner?.precedesRunningCode ?? session.runsOwnCode)
    }

    /// Leaves the queues that the call has entered but does not wait in.
    private mutating func leaveQueues() async {
        for index in waits.indices {
            guard let entry = waits[index].entry else { continue }
            waits[index].entry = nil
            waits[index].number = entry.number
            let outcome = await waits[index].queue.wait(
                entry, control, until: HTTP.Instant(nanoseconds: 0), delegate.cancellation)
            if case .admitted = outcome { waits[index].queue.leave(key) }
        }
    }

    private func waitForPredecessors() async throws {
        for id in delegate.predecessors {
            switch await session.tasks.waitForEnd(of: id, until: deadline, delegate.cancellation) {
            case .value: continue
            case .cancelled: throw cancelled(nil)
            case .timedOut:
                throw NetworkError(
                    .timedOut, "timed out waiting for the requests in `startsAfter`: \(InheritedDeadline.hasPassed)",
                    isSafeToRetry: true, exceeding: .total, limit: inherited?.length, peer: "\(origin)")
            }
        }
    }

    /// Waits for all turns. Returns nil if the call was suspended meanwhile.
    private mutating func takeTurns() async throws -> Permit? {
        var permit = Permit(host: key)
        if waits.isEmpty { return permit }
        delegate.observation?.note(.queued)
        do {
            for index in waits.indices {
                guard try await takeTurn(index) else {
                    permit.leave()
                    return nil
                }
                permit.queues.append(waits[index].queue)
            }
        } catch {
            permit.leave()
            throw error
        }
        permit.queued = queued
        delegate.observation?.note(.admitted(after: .nanoseconds(queued)))
        return permit
    }

    private mutating func takeTurn(_ index: Int) async throws -> Bool {
        let wait = waits[index]
        let start = control.now()
        let limit = wait.isTimed ? timeouts.deadline(for: .queue, from: start.advanced(by: -queued)) : .never
        let entry = wait.entry ?? wait.queue.enter(key, control, as: wait.number)
        waits[index].entry = nil
        let outcome = await wait.queue.wait(entry, control, until: min(limit, deadline), delegate.cancellation)
        let end = control.now()
        if wait.isTimed { queued += end.nanoseconds - start.nanoseconds }
        switch outcome {
        case .admitted:
            // A turn may come because the same deadline has just ended whoever had it.
            guard case .waiting = entry, deadline <= end else { return true }
            wait.queue.leave(key)
            throw error(.timedOut, lateness(wait, by: .total), exceeding: .total, at: end)
        case .steppedAside(let number):
            waits[index].number = number
            return false
        case .full:
            let allowed = wait.queue.limits.maximumWaiting
            let reason = "the request queue is full: `queue.maximumWaiting` is \(allowed)"
            throw error(.queueFull, reason, at: end)
        case .cancelled: throw cancelled(.pool)
        case .timedOut:
            let limit = deadline <= end ? Timeouts.Limit.total : .queue
            throw error(.timedOut, lateness(wait, by: limit), exceeding: limit, at: end)
        }
    }
}

// MARK: - Errors

extension Admission {
    private func cancelled(_ phase: HTTP.Phase?) -> any Error {
        delegate.cancellation.failure(phase: phase, isUnsent: true)
    }

    /// A description of the setting that made the call wait, and of the limit that it exceeded.
    private func lateness(_ wait: QueueWait, by limit: Timeouts.Limit) -> String {
        let remedy =
            limit == .total
            ? InheritedDeadline.hasPassed : "allow more, or a longer `timeouts.queue`"
        let limits = wait.queue.limits
        guard wait.isTimed else {
            let running = limits.running.map { "`running` of the batch is \($0)" } ?? "the batch is full"
            return "timed out waiting for a turn in the batch: \(running); \(remedy)"
        }
        return "timed out waiting in the request queue: \(limits.shown); \(remedy)"
    }

    private func error(
        _ code: NetworkError.Code, _ reason: String, exceeding limit: Timeouts.Limit? = nil, at now: HTTP.Instant
    ) -> NetworkError {
        let sinceDeadlineWasSet = limit == .total ? inherited.map { $0.length + now.duration(since: $0.time) } : nil
        var error = NetworkError(
            code, reason, phase: .pool, isSafeToRetry: true, exceeding: limit,
            elapsed: sinceDeadlineWasSet ?? .nanoseconds(queued), peer: "\(origin)")
        if let limit { error.limit = limit == .queue ? timeouts.queue : inherited?.length }
        var hop = HTTP.Hop()
        (hop.started, hop.ended) = (now, now)
        error.hop = hop.after(waiting: queued)
        return error
    }
}

/// What a running call occupies in queues.
struct Permit: Sendable {
    let host: String
    var queues: [RequestQueue] = []
    /// How long the call waited in the session's queue, in nanoseconds.
    var queued: Int64 = 0

    func leave() {
        for queue in queues.reversed() { queue.leave(host) }
    }
}

extension TaskDelegate {
    /// Waits while the call is suspended. `isUnsent`: nothing of it has been sent.
    nonisolated func pass(
        _ control: TransferControl, until deadline: HTTP.Instant, isUnsent: Bool
    ) async throws {
        let passage = await control.pass(until: deadline)
        try checkHold(passage != .timedOut, in: cancellation.phase, isUnsent: isUnsent)
        if passage == .cancelled { throw CancellationError() }
    }

    /// Throws unless the call may continue after it was suspended. `inherited`: the only deadline there was, if it has
    /// not begun.
    nonisolated fileprivate func checkHold(
        _ isInTime: Bool, in phase: HTTP.Phase?, isUnsent: Bool, _ inherited: InheritedDeadline? = nil
    ) throws {
        if cancellation.cause != nil { throw cancellation.failure(isUnsent: isUnsent) }
        guard isInTime else {
            let cause = inherited.map { _ in ": \(InheritedDeadline.hasPassed)" } ?? ""
            let reason = "the request timed out while it was suspended" + cause
            throw NetworkError(
                .timedOut, reason, phase: phase, requestMayHaveBeenSent: !isUnsent, isSafeToRetry: isUnsent,
                exceeding: .total, limit: inherited?.length)
        }
    }
}
