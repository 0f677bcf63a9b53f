internal import DunlinReactor
internal import DunlinTransport

/// What a watched request passes before it is sent: it is let go, those it comes after end, and its turn comes.
///
/// A request that is held on the way gives up whatever turn it had and starts over; in line it then stands where it
/// stood. Only the wait in the session's queue counts, for the limit of `pool`; the inherited deadline always counts.
struct Admission {
    /// For one line.
    private struct Ticket {
        let queue: RequestQueue
        let isTimed: Bool
        /// Of one that came in before it was its request's turn to.
        var entry: RequestQueue.Entry?
        var number: UInt64?
    }

    private let session: SessionCore
    private let delegate: TaskDelegate
    private let observers: RequestObservers
    private let origin: HTTP.Origin
    private let timeouts: Timeouts
    private let deadline = InheritedDeadline.present ?? .never
    private var tickets: [Ticket] = []
    private var hasTickets = false
    /// Nanoseconds in the session's queue.
    private var queued: Int64 = 0

    init(
        _ session: SessionCore, _ delegate: TaskDelegate, _ observers: RequestObservers, _ origin: HTTP.Origin,
        _ timeouts: Timeouts
    ) {
        self.session = session
        self.delegate = delegate
        self.observers = observers
        self.origin = origin
        self.timeouts = timeouts
    }

    private var control: TransferControl { observers.control }

    /// Returns once the request may be sent. What it returns must be left when the request is over.
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

    /// Gives up what was taken for a request that will not pass.
    mutating func forgo() async {
        takeTickets()
        await abandon()
    }

    private mutating func waitToBeLetGo() async throws {
        repeat {
            let isInTime = await control.waitForRelease(until: deadline)
            try delegate.checkHold(isInTime)
            takeTickets()
            // It may have been let go for a moment, in which a turn came to it that others could use.
            if control.isSuspended { await abandon() }
        } while control.isSuspended
    }

    /// The batch's line first: who waits there must not keep others out of the session's.
    private mutating func takeTickets() {
        guard !hasTickets else { return }
        hasTickets = true
        if let line = observers.takeLine() {
            tickets.append(Ticket(queue: line.queue, isTimed: false, entry: line.entry))
        }
        if let queue = session.queue { tickets.append(Ticket(queue: queue, isTimed: true)) }
    }

    /// What came in and is not waited for leaves again.
    private mutating func abandon() async {
        for index in tickets.indices {
            guard let entry = tickets[index].entry else { continue }
            tickets[index].entry = nil
            tickets[index].number = entry.number
            let outcome = await tickets[index].queue.wait(
                entry, control, until: MonotonicTime(nanoseconds: 0), delegate.cancellation)
            if case .admitted = outcome { tickets[index].queue.leave(origin.authority) }
        }
    }

    private func waitForPredecessors() async throws {
        for id in delegate.predecessors {
            switch await session.tasks.waitForEnd(of: id, until: deadline, delegate.cancellation) {
            case .value: continue
            case .cancelled: throw cancelled(nil)
            case .timedOut:
                throw NetworkError(
                    .timedOut, "what the request comes after did not end in time", phase: .total, isSafeToRetry: true,
                    peer: "\(origin)")
            }
        }
    }

    /// Nil if the request was held meanwhile.
    private mutating func takeTurns() async throws -> Permit? {
        var permit = Permit(host: origin.authority)
        do {
            for index in tickets.indices {
                guard try await takeTurn(index) else {
                    permit.leave()
                    return nil
                }
                permit.queues.append(tickets[index].queue)
            }
        } catch {
            permit.leave()
            throw error
        }
        permit.queued = queued
        return permit
    }

    private mutating func takeTurn(_ index: Int) async throws -> Bool {
        let ticket = tickets[index]
        let start = control.now()
        let limit = ticket.isTimed ? timeouts.deadline(for: .pool, from: start.advanced(by: -queued)) : .never
        let entry = ticket.entry ?? ticket.queue.enter(origin.authority, control, as: ticket.number)
        tickets[index].entry = nil
        let outcome = await ticket.queue.wait(entry, control, until: min(limit, deadline), delegate.cancellation)
        let end = control.now()
        if ticket.isTimed { queued += end.nanoseconds - start.nanoseconds }
        switch outcome {
        case .admitted: return true
        case .steppedAside(let number):
            tickets[index].number = number
            return false
        case .full:
            throw error(.queueFull, "too many requests wait for their turn already", .pool, at: end)
        case .cancelled: throw cancelled(.pool)
        case .timedOut:
            let phase: HTTP.Phase = deadline <= end ? .total : .pool
            throw error(.timedOut, "the request's turn in the queue did not come in time", phase, at: end)
        }
    }
}

// MARK: - Errors

extension Admission {
    private func cancelled(_ phase: HTTP.Phase?) -> any Error {
        if delegate.cancellation.cause == .task { return CancellationError() }
        return NetworkError(.cancelled, "the request was cancelled", phase: phase, isSafeToRetry: true)
    }

    private func error(
        _ code: NetworkError.Code, _ reason: String, _ phase: HTTP.Phase, at now: MonotonicTime
    ) -> NetworkError {
        var error = NetworkError(
            code, reason, phase: phase, isSafeToRetry: true, elapsed: .nanoseconds(queued), peer: "\(origin)")
        if code == .timedOut, phase == .pool { error.limit = timeouts.pool }
        var hop = HTTP.Hop()
        (hop.started, hop.ended) = (now, now)
        error.hop = hop.after(waiting: queued)
        return error
    }
}

/// The places a request has in queues while it is on its way.
struct Permit: Sendable {
    let host: String
    var queues: [RequestQueue] = []
    /// Nanoseconds it waited in the session's queue.
    var queued: Int64 = 0

    func leave() {
        for queue in queues.reversed() { queue.leave(host) }
    }
}

extension TaskDelegate {
    /// Waits while the request is held.
    nonisolated func pass(_ control: TransferControl, until deadline: MonotonicTime) async throws {
        try checkHold(await control.pass(until: deadline))
    }

    /// Whether the request may go on after it was held.
    nonisolated fileprivate func checkHold(_ isInTime: Bool) throws {
        if let cause = cancellation.cause {
            if cause == .task { throw CancellationError() }
            throw NetworkError(.cancelled, "the request was cancelled", isSafeToRetry: true)
        }
        guard isInTime else {
            throw NetworkError(.timedOut, "the request was held until its time was over", phase: .total)
        }
    }
}
