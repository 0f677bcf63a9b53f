internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// The session's pool of connections: it leases them, takes them back, has missing ones opened, and closes old ones.
///
/// The rules are in `PoolMachine`; this class adds the lock, the waiting and the closing. When the server ends an idle
/// connection, its loop reports that through a stream, and the connection is closed at once.
final class Pool: Sendable {
    typealias Machine = PoolMachine<Connection, ValueWaiter<Grant>>

    /// What a waiter gets.
    enum Grant: Sendable {
        case connection(Connection)
        /// The right to open a connection.
        case opening
        /// The right to open a connection beyond the caps.
        case openingBeyond
        case refused
    }

    /// How a lease begins.
    enum Source {
        case existing(Connection)
        case opening
        /// The right to open one beyond the caps.
        case openingBeyond
    }

    /// A position in the queue, until its waiter is served.
    struct Position {
        let origin: HTTP.Origin
        let waiter: ValueWaiter<Grant>
        let number: UInt64
    }

    /// What is available at once.
    enum Offer {
        case now(Source)
        case later(Position)
    }

    private struct State {
        var machine: Machine
        var sweeper: UInt64?
        var unsolicitedReader: Task<Void, Never>?
    }

    private let reactor: Reactor
    private let state: Mutex<State>
    private let ended: (@Sendable (HTTP.EndedConnection) -> Void)?
    private let unsolicited = AsyncStream.makeStream(of: UInt64.self)

    /// Creates a pool; `ended` is told of each connection that is closed.
    init(
        limits: Machine.Limits, reactor: Reactor, ended: (@Sendable (HTTP.EndedConnection) -> Void)? = nil
    ) {
        self.reactor = reactor
        self.ended = ended
        state = Mutex(State(machine: PoolMachine(limits: limits)))
    }

    deinit {
        unsolicited.continuation.finish()
        if let sweeper = state.withLock({ $0.sweeper }) { reactor.forget(sweeper) }
        if ended != nil { for connection in state.withLock({ $0.machine.close() }).idle { end(connection, .shutDown) } }
    }

    /// Where connections announce that something came while they were idle.
    var announcements: AsyncStream<UInt64>.Continuation {
        startReadingUnsolicited()
        return unsolicited.continuation
    }

    /// A connection for `origin`, or the right to open one, at once or after a wait in the queue. The caller must
    /// `giveBack` or `discard` it. A caller that may not reuse a connection gets only the right to open one. `standing`
    /// is asked if there would be a wait.
    func lease(
        _ origin: HTTP.Origin, on loop: Reactor, at now: HTTP.Instant, _ priority: HTTP.Priority = .normal,
        mayReuse: Bool = true, standing: @Sendable () -> PoolStanding = { .waits }
    ) throws(PoolFailure) -> Offer {
        while true {
            let action = state.withLock { state in
                state.machine.lease(
                    origin, on: ObjectIdentifier(loop), at: now, priority, mayReuse: mayReuse, standing: standing
                ) {
                    ValueWaiter(on: loop)
                }
            }
            switch action {
            case .use(let connection): return .now(.existing(connection))
            case .open(let displaced):
                if let displaced { end(displaced, .displaced) }
                return .now(.opening)
            case .openBeyond: return .now(.openingBeyond)
            case .retire(let connection):
                end(connection, .idle)
                discard(origin)
            case .turnAway:
                let limits = state.withLock { $0.machine.limits }
                throw standing() == .exceeds
                    ? .exhaustedBeyond(open: limits.beyond) : .exhausted(waiting: limits.waiters)
            case .refuse: throw .closed
            case .wait(let waiter, let number):
                return .later(Position(origin: origin, waiter: waiter, number: number))
            }
        }
    }

    /// Gives the right to open a connection ahead of need, unless `count` are open or there is no room.
    func reserve(_ origin: HTTP.Origin, upTo count: Int) -> Bool {
        state.withLock { $0.machine.reserve(origin, upTo: count) }
    }

    /// Notes that a connection being opened enters a phase.
    func enter(_ phase: OpeningPhase, after previous: OpeningPhase?, _ origin: HTTP.Origin) {
        state.withLock { $0.machine.enter(phase, after: previous, origin) }
    }

    /// Notes that an opening ended in this phase. The right to open must still be used or discarded.
    func endOpening(_ origin: HTTP.Origin, in phase: OpeningPhase, _ end: OpeningEnd) {
        state.withLock { $0.machine.endOpening(origin, in: phase, end) }
    }

    func wait(
        in position: Position, until deadline: HTTP.Instant, _ cancellation: Cancellation
    ) async throws(PoolFailure) -> Source {
        let outcome = await position.waiter.wait(until: deadline, cancellation: cancellation)
        switch outcome {
        case .value(.connection(let connection)): return .existing(connection)
        case .value(.opening): return .opening
        case .value(.openingBeyond): return .openingBeyond
        case .value(.refused): throw .closed
        case .timedOut: throw leave(position, .timedOut)
        case .cancelled: throw leave(position, .cancelled)
        }
    }

    private func leave(_ position: Position, _ failure: PoolFailure) -> PoolFailure {
        state.withLock { $0.machine.leave(position.origin, position.number) }
        return failure
    }

    /// The position in the queue of an observed call while it waits.
    struct ObservedPosition: QueuePosition {
        let pool: Pool
        let position: Position

        func move(to priority: HTTP.Priority) {
            pool.state.withLock { $0.machine.move(position.origin, position.number, to: priority) }
        }

        /// A suspended call continues to wait, since it has been admitted to the exchange already.
        func stepAside() {}
    }

    /// Gives back a connection that is fit for another request.
    func giveBack(_ connection: Connection, at now: HTTP.Instant, wasLookedAt: Bool = false) {
        var wasLookedAt = wasLookedAt
        while true {
            let action = state.withLock {
                $0.machine.giveBack(connection, to: connection.origin, at: now, wasLookedAt: wasLookedAt)
            }
            wasLookedAt = false
            switch action {
            case .keep(let sweepAt):
                if let sweepAt { scheduleSweep(at: sweepAt) }
                // The announcement may have come just before the connection was idle, and found none.
                if connection.channel.wasAnnounced { inspect(connection.id) }
                return
            case .handOver(let waiter):
                if waiter.deliver(.connection(connection)) { return }
            case .replace(let waiter, let origin):
                end(connection, .displaced)
                if !waiter.deliver(.opening) { discard(origin) }
                return
            case .close:
                end(connection, .unfit)
                return discard(connection.origin)
            }
        }
    }

    /// Closes a connection, and says why; if nothing else explains it, `reason` does. Must not be called under a lock.
    func end(_ connection: Connection, _ reason: HTTP.EndedConnection.Reason) {
        connection.close()
        guard let ended else { return }
        let now = reactor.now()
        let known = state.withLock { $0.machine.reason(of: connection, at: now) }
        ended(connection.end(known ?? reason, at: now))
    }

    /// Discards a connection that was closed or never opened, perhaps one beyond the caps.
    func discard(_ origin: HTTP.Origin, isBeyond: Bool) {
        if !isBeyond { return discard(origin) }
        var origin = origin
        while let (waiter, next) = state.withLock({ $0.machine.goneBeyond(origin) }) {
            if waiter.deliver(.openingBeyond) { return }
            origin = next
        }
    }

    /// Discards a connection that was closed or never opened.
    func discard(_ origin: HTTP.Origin, wasLookedAt: Bool = false) {
        var (origin, wasLookedAt) = (origin, wasLookedAt)
        while let (waiter, next) = state.withLock({ $0.machine.gone(origin, wasLookedAt: wasLookedAt) }) {
            if waiter.deliver(.opening) { return }
            (origin, wasLookedAt) = (next, false)
        }
    }

    /// Leases no connections of earlier TLS generations from now on.
    func retire(before tlsGeneration: UInt64 = 0, proxies: UInt64 = 0) {
        let retired = state.withLock { $0.machine.retire(before: tlsGeneration, proxies: proxies) }
        for connection in retired { end(connection, .outdated) }
    }

    /// Gives no more leases. Idle connections are closed at once, leased ones when they come back.
    func close() async {
        let (idle, waiters) = state.withLock { $0.machine.close() }
        for connection in idle { end(connection, .shutDown) }
        for waiter in waiters { _ = waiter.deliver(.refused) }
        unsolicited.continuation.finish()
        await state.withLock { $0.unsolicitedReader }?.value
    }

    var gauges: HTTP.ConnectionGauges { state.withLock { $0.machine.gauges } }
    var counts: PoolCounts { state.withLock { $0.machine.counts } }

    func openCount(to origin: HTTP.Origin) -> Int {
        state.withLock { $0.machine.openCount(to: origin) }
    }
}

// MARK: - What goes on by itself

extension Pool {
    private func startReadingUnsolicited() {
        state.withLock { state in
            guard state.unsolicitedReader == nil else { return }
            // The first exchange begins this task, which outlives it and so must not retain what belongs to it.
            state.unsolicitedReader = Task.detached { [weak self, stream = unsolicited.stream] in
                for await id in stream { self?.inspect(id) }
            }
        }
    }

    /// Handles something that came on an idle connection: its end, or unrequested bytes. Either makes it unusable.
    private func inspect(_ id: UInt64) {
        guard let (connection, origin) = state.withLock({ $0.machine.takeIdle(id) }) else { return }
        if connection.stream.isStillSilent() {
            giveBack(connection, at: reactor.now(), wasLookedAt: true)
        } else {
            end(connection, .server)
            discard(origin, wasLookedAt: true)
        }
    }

    private func scheduleSweep(at time: HTTP.Instant) {
        let known = state.withLock { $0.sweeper }
        if let known { return reactor.schedule(known, at: time) }
        let token = reactor.schedule(Sweeper(pool: self), at: time)
        let spare = state.withLock { state -> UInt64? in
            guard state.sweeper == nil else { return token }
            state.sweeper = token
            return nil
        }
        if let spare { reactor.forget(spare) }
    }

    fileprivate func sweep(at now: HTTP.Instant) -> HTTP.Instant {
        let (expired, next) = state.withLock { $0.machine.expire(at: now) }
        for connection in expired { end(connection, .idle) }
        return next
    }

    /// The loop's weak reference to the pool, so that an unused pool is released with its connections.
    private final class Sweeper: Timed {
        private weak let pool: Pool?

        init(pool: Pool) {
            self.pool = pool
        }

        func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
            pool?.sweep(at: now) ?? .never
        }
    }
}

/// Why no connection was leased.
enum PoolFailure: Error {
    case timedOut
    case cancelled
    case closed
    /// As many requests wait already as may.
    case exhausted(waiting: Int)
    /// As many connections are open beyond the caps as may be.
    case exhaustedBeyond(open: Int)
}
