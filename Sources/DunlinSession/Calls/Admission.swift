internal import DunlinReactor
internal import DunlinTransport

/// What an observed call waits for before it is sent: that it is resumed, that the calls it comes after have ended, and
/// that it gets its turn.
///
/// A call that is suspended meanwhile gives up the turns it had and starts over; in a queue it keeps its old position.
/// Only the wait in the session's queue has a limit, that of `queue`; the inherited deadline always counts.
struct Admission {
    /// The wait in one queue.
    private struct QueueWait {
        let queue: RequestQueue
        /// Whether it is the session's; a batch's own has no limit of time.
        let isTimed: Bool
        /// Set if the call entered the queue before it was time to wait there.
        var entry: RequestQueue.Entry?
        var number: UInt64?
    }

    private let session: SessionCore
    private let delegate: TaskDelegate
    private let observers: RequestObservers
    private let origin: HTTP.Origin
    private let timeouts: Timeouts
    /// Whether somebody waits for it where it was made. Of a handle's request nobody need do that.
    private let isAwaited: Bool
    private let inherited = InheritedDeadline.present
    private var deadline: HTTP.Instant { inherited?.time ?? .never }
    private var waits: [QueueWait] = []
    private var hasWaits = false
    /// Nanoseconds the call has waited in the session's queue.
    private var queued: Int64 = 0

    init(
        _ session: SessionCore, _ delegate: TaskDelegate, _ observers: RequestObservers, _ origin: HTTP.Origin,
        _ timeouts: Timeouts, isAwaited: Bool
    ) {
        self.isAwaited = isAwaited
        self.session = session
        self.delegate = delegate
        self.observers = observers
        self.origin = origin
        self.timeouts = timeouts
    }

    private var control: TransferControl { observers.control }

    /// Returns once the call may be sent. The caller must `leave` the permit when the call is over.
    mutating func pass() async throws -> Permit {
        do {
            while true {
                try await waitToBeLetGo()
                try await waitForPredecessors()
                if let permit = try await takeTurns() { return permit }
            }
        } catch {
            await forgo()
            throw error
        }
    }

    /// Gives back what was taken for a call that will not be sent.
    mutating func forgo() async {
        takeWaits()
        await abandon()
    }

    private mutating func waitToBeLetGo() async throws {
        repeat {
            let isInTime = await control.waitForRelease(until: deadline)
            try delegate.checkHold(isInTime, in: nil, isUnsent: true)
            takeWaits()
            // It may have been resumed for a moment and given a turn then, which others could use.
            if control.isSuspended { await abandon() }
        } while control.isSuspended
    }

    /// The batch's queue comes first: a call that waits there must not keep others out of the session's queue.
    private mutating func takeWaits() {
        guard !hasWaits else { return }
        hasWaits = true
        if let line = observers.takeLine() {
            waits.append(QueueWait(queue: line.queue, isTimed: false, entry: line.entry))
        }
        // Those that have their turn may wait for what a refresh, an interceptor or a hook asks for, or for what is
        // asked for while their stream is read.
        if let queue = session.queue, !Enclosure.isAwaited(by: session), !isAwaited || !queue.isHeldByCaller {
            waits.append(QueueWait(queue: queue, isTimed: true))
        }
    }

    /// Leaves the queues that the call entered and does not wait in.
    private mutating func abandon() async {
        for index in waits.indices {
            guard let entry = waits[index].entry else { continue }
            waits[index].entry = nil
            waits[index].number = entry.number
            let outcome = await waits[index].queue.wait(
                entry, control, until: HTTP.Instant(nanoseconds: 0), delegate.cancellation)
            if case .admitted = outcome { waits[index].queue.leave(origin.authority) }
        }
    }

    private func waitForPredecessors() async throws {
        for id in delegate.predecessors {
            switch await session.tasks.waitForEnd(of: id, until: deadline, delegate.cancellation) {
            case .value: continue
            case .cancelled: throw cancelled(nil)
            case .timedOut:
                throw NetworkError(
                    .timedOut, "timed out waiting for the requests in `startsAfter`", isSafeToRetry: true,
                    exceeding: .total, limit: inherited?.length, peer: "\(origin)")
            }
        }
    }

    /// Nil if the call was suspended meanwhile.
    private mutating func takeTurns() async throws -> Permit? {
        var permit = Permit(host: origin.authority, id: delegate.id)
        do {
            for index in waits.indices {
                guard try await takeTurn(index) else {
                    permit.leave()
                    return nil
                }
                waits[index].queue.hold(delegate.id)
                permit.queues.append(waits[index].queue)
            }
        } catch {
            permit.leave()
            throw error
        }
        permit.queued = queued
        return permit
    }

    private mutating func takeTurn(_ index: Int) async throws -> Bool {
        let wait = waits[index]
        let start = control.now()
        let limit = wait.isTimed ? timeouts.deadline(for: .queue, from: start.advanced(by: -queued)) : .never
        let entry = wait.entry ?? wait.queue.enter(origin.authority, control, as: wait.number)
        waits[index].entry = nil
        let outcome = await wait.queue.wait(entry, control, until: min(limit, deadline), delegate.cancellation)
        let end = control.now()
        if wait.isTimed { queued += end.nanoseconds - start.nanoseconds }
        switch outcome {
        case .admitted: return true
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

    /// Names what was set that made the call wait, and what bounds the wait.
    private func lateness(_ wait: QueueWait, by limit: Timeouts.Limit) -> String {
        let remedy =
            limit == .total
            ? "`withTimeout` limits this wait too" : "`timeouts.queue` limits this wait, and is nil by default"
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

/// What a call takes up in queues while it is on its way.
struct Permit: Sendable {
    let host: String
    let id: HTTPSession.TaskID
    var queues: [RequestQueue] = []
    /// Nanoseconds the call waited in the session's queue.
    var queued: Int64 = 0

    func leave() {
        for queue in queues.reversed() { queue.leave(host, id) }
    }
}

extension TaskDelegate {
    /// Waits while the call is suspended. `isUnsent`: nothing of it was sent.
    nonisolated func pass(
        _ control: TransferControl, until deadline: HTTP.Instant, isUnsent: Bool
    ) async throws {
        try checkHold(await control.pass(until: deadline), in: cancellation.phase, isUnsent: isUnsent)
    }

    /// Throws unless the call may go on after it was suspended.
    nonisolated fileprivate func checkHold(_ isInTime: Bool, in phase: HTTP.Phase?, isUnsent: Bool) throws {
        if cancellation.cause != nil { throw cancellation.failure(isUnsent: isUnsent) }
        guard isInTime else {
            let reason = "the request timed out while it was suspended"
            throw NetworkError(
                .timedOut, reason, phase: phase, requestMayHaveBeenSent: !isUnsent, isSafeToRetry: isUnsent,
                exceeding: .total)
        }
    }
}
