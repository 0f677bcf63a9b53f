internal import DunlinTypes

/// Decides who may use which connection: it holds the idle ones, the caps, and the queues of waiters.
///
/// Rules:
/// 1. A connection counts from the moment somebody is told to open it until it is reported gone.
/// 2. The newest idle connection is used first, and one on the caller's own loop before others, so that old ones can
///    expire. Idle connections are kept oldest first.
/// 3. A connection is not used once it has been idle too long (by our limit or the server's), is too old, or was used
///    too often. That is checked when it is given back, when it is about to be leased, and in sweeps.
/// 4. There are two caps: for each origin, and for all together. If only the latter is reached, the longest-idle
///    connection of any origin is closed to make room. So a request waits only if its origin has reached its cap and
///    none of its connections is idle, if no connection at all is idle, or by rule 5.
/// 5. An idle connection that is inspected, because something came on it, will soon be back or gone. For each one, a
///    request waits for that rather than opening another; while only such requests wait, they get no other connection
///    or right.
/// 6. Within an origin, waiters are served by priority, then in order of arrival: with a connection that is given back,
///    or with the right to open one when a connection is gone. A change of priority takes effect at once; the order of
///    arrival stays.
/// 7. Between origins that wait for the total cap, the right to open goes to the first waiter of all by priority and
///    arrival. A connection that is given back stays with its origin while somebody waits there, unless another origin
///    has none or at least two fewer, and its first waiter comes first. So each queue progresses, and origins that
///    share the total evenly do not close each other's connections.
/// 8. The number of waiters is limited; further requests are refused at once.
/// 9. A request that may not reuse a connection opens one. If its origin has reached its cap, an idle connection of it
///    is closed to make room; without an idle one it waits. When it is first, a connection that is given back is closed
///    to make room, though other waiters could have used it: they would otherwise overtake it again and again.
/// 10. Each connection belongs to a TLS generation; only those of the latest that is known are leased.
/// 11. Totals outlive connections (`PoolTotals`). Only one that somebody tried to open counts as opened or failed.
/// 12. A request that others may wait for opens a connection beyond the caps rather than wait. Nobody else uses that,
///     and it is closed afterwards. Of these there are as many at once as one origin may have, but at least 32; then
///     such a request takes what comes first if its wait has a limit, and is refused otherwise.
/// 13. The machine reads no clock and closes nothing; it returns what to do.
struct PoolMachine<Connection: PoolMember, Waiter> {
    struct Limits: Sendable {
        var connectionsPerOrigin = 128
        var connections = 1024
        /// The number of requests that may wait, for all origins together.
        var waiters = 10_000
        /// The number of connections beyond the caps.
        var beyond: Int { max(32, connectionsPerOrigin) }
        /// How long an idle connection is kept, in nanoseconds.
        var idleTime: Int64 = 60_000_000_000
        /// How long after its opening a connection is used, in nanoseconds.
        var age = Int64.max
        var uses = Int.max
    }

    enum LeaseAction {
        case use(Connection)
        /// Open a connection, and close this one, if any, to make room. Report `gone` if opening fails.
        case open(closing: Connection?)
        /// The connection may not be used any more: close it, report it gone, and ask again.
        case retire(Connection)
        case wait(Waiter, number: UInt64)
        /// Open a connection beyond the caps. Report `goneBeyond` when it is closed or was not opened.
        case openBeyond
        /// Too many wait already, or too many are open beyond the caps.
        case turnAway
        case refuse
    }

    enum GiveBackAction {
        /// The connection is now idle. If `sweepAt` is set, call `expire` then.
        case keep(sweepAt: HTTP.Instant?)
        case handOver(Waiter)
        /// Close it; this waiter may open one to this origin instead.
        case replace(Waiter, HTTP.Origin)
        /// Close it and report it gone.
        case close
    }

    typealias Pooled = PoolOrigin<Connection, Waiter>

    let limits: Limits
    /// One for each origin in use. A place is changed in the array: a dictionary of places would change it through an
    /// accessor that allocates.
    var origins: [Pooled] = []
    private var positions: [HTTP.Origin: Int] = [:]
    private var nextNumber: UInt64 = 0
    /// When `expire` will be called next.
    private var nextSweep = HTTP.Instant.never
    private(set) var isClosed = false
    private(set) var tlsGeneration: UInt64 = 0
    private(set) var proxyTLSGeneration: UInt64 = 0
    private(set) var openCount = 0
    private(set) var idleCount = 0
    var waitingCount = 0
    /// The totals of origins that are not in use.
    var totals = PoolTotals()
    /// The number of connections beyond the caps.
    var beyondCount = 0

    init(limits: Limits) {
        self.limits = limits
    }

    func openCount(to origin: HTTP.Origin) -> Int {
        position(of: origin).map { origins[$0].open } ?? 0
    }
}

// MARK: - Asking

extension PoolMachine {
    mutating func lease(
        _ origin: HTTP.Origin, on loop: ObjectIdentifier, at now: HTTP.Instant, _ priority: HTTP.Priority,
        mayReuse: Bool = true, standing: () -> PoolStanding = { .waits }, waiter: () -> Waiter
    ) -> LeaseAction {
        if isClosed { return .refuse }
        let number = nextNumber
        nextNumber += 1
        let position = position(adding: origin)
        if mayReuse, let found = origins[position].takeIdle(on: loop) {
            idleCount -= 1
            guard found.until > now else { return .retire(found.connection) }
            origins[position].totals.reuses += 1
            return .use(found.connection)
        }
        if mayReuse, origins[position].mayAwaitOne, waitingCount < limits.waiters, standing() == .waits {
            return queue(waiter(), mayReuse: true, at: position, priority, number)
        }
        if origins[position].open < limits.connectionsPerOrigin {
            if openCount < limits.connections {
                grant(position)
                return .open(closing: nil)
            }
            if idleCount > 0 { return .open(closing: displaceOldest(for: position)) }
        } else if !mayReuse, !origins[position].idle.isEmpty {
            idleCount -= 1
            return .open(closing: origins[position].idle.removeFirst().connection)
        }
        let standing = standing()
        if standing != .waits, grantBeyond(position) { return .openBeyond }
        guard standing != .exceeds, waitingCount < limits.waiters else {
            removeIfDeserted(position)
            return .turnAway
        }
        let exceeds = standing == .exceedsOrWaits
        return queue(waiter(), mayReuse: mayReuse, exceeds: exceeds, at: position, priority, number)
    }

    private mutating func queue(
        _ waiter: Waiter, mayReuse: Bool, exceeds: Bool = false, at position: Int, _ priority: HTTP.Priority,
        _ number: UInt64
    ) -> LeaseAction {
        origins[position].queue.append(
            waiter, mayReuse: mayReuse, exceeds: exceeds, priority: priority, number: number)
        waitingCount += 1
        return .wait(waiter, number: number)
    }

    /// Gives the right to open a connection ahead of need, unless `count` are open. It closes no connection and
    /// overtakes no request.
    mutating func reserve(_ origin: HTTP.Origin, upTo count: Int) -> Bool {
        if isClosed { return false }
        let position = position(adding: origin)
        guard origins[position].open < min(count, limits.connectionsPerOrigin), openCount < limits.connections else {
            removeIfDeserted(position)
            return false
        }
        grant(position)
        return true
    }

    /// Removes a waiter before it was served.
    mutating func leave(_ origin: HTTP.Origin, _ number: UInt64) {
        guard let position = position(of: origin), origins[position].queue.leave(number) != nil else { return }
        waitingCount -= 1
        removeIfDeserted(position)
    }

    /// Changes a waiter's priority, unless it was served already.
    mutating func move(_ origin: HTTP.Origin, _ number: UInt64, to priority: HTTP.Priority) {
        guard let position = position(of: origin) else { return }
        origins[position].queue.move(number, to: priority)
    }

    private mutating func grant(_ position: Int) {
        origins[position].open += 1
        openCount += 1
    }

    /// Removes the longest-idle connection, to make room at `position`.
    private mutating func displaceOldest(for position: Int) -> Connection? {
        origins[position].open += 1
        var oldest: (position: Int, since: HTTP.Instant)?
        for (other, pooled) in origins.enumerated() {
            guard let since = pooled.idle.first?.since, since < oldest?.since ?? .never else { continue }
            oldest = (other, since)
        }
        guard let oldest else { return nil }
        let connection = origins[oldest.position].idle.removeFirst().connection
        idleCount -= 1
        origins[oldest.position].open -= 1
        removeIfDeserted(oldest.position)
        return connection
    }
}

// MARK: - Giving back

extension PoolMachine {
    /// Takes back a connection that is fit for another request, perhaps after an inspection.
    mutating func giveBack(
        _ connection: Connection, to origin: HTTP.Origin, at now: HTTP.Instant, wasLookedAt: Bool = false
    ) -> GiveBackAction {
        if wasLookedAt { endLook(origin) }
        let end = connection.opened.advanced(by: limits.age)
        guard !isClosed, end > now, connection.uses < limits.uses, connection.idleLimit > 0,
            connection.tlsGeneration >= tlsGeneration, connection.proxyTLSGeneration >= proxyTLSGeneration,
            let position = position(of: origin)
        else { return .close }
        if waitingCount > 0, let served = serve(from: position) { return served }
        let until = min(now.advanced(by: min(limits.idleTime, connection.idleLimit)), end)
        origins[position].idle.append(Pooled.Idle(connection: connection, since: now, until: until))
        idleCount += 1
        guard until < nextSweep else { return .keep(sweepAt: nil) }
        nextSweep = until
        return .keep(sweepAt: until)
    }

    /// Notes that a connection was closed or could not be opened. The returned waiter may open one, to the returned
    /// origin.
    mutating func gone(_ origin: HTTP.Origin, wasLookedAt: Bool = false) -> (Waiter, HTTP.Origin)? {
        if wasLookedAt { endLook(origin) }
        guard let position = position(of: origin) else { return nil }
        let wasFull = openCount >= limits.connections
        origins[position].open -= 1
        openCount -= 1
        guard waitingCount > 0, let next = firstInQueue(where: { wasFull || $0 == position }),
            let waiter = origins[next].queue.popFirst()?.waiter
        else {
            removeIfDeserted(position)
            return nil
        }
        waitingCount -= 1
        grant(next)
        let target = origins[next].origin
        removeIfDeserted(position)
        return (waiter, target)
    }

    private mutating func serve(from position: Int) -> GiveBackAction? {
        // Below the total cap, everybody waits only for their own origin.
        guard openCount >= limits.connections, let earlier = earlierOrigin(than: position),
            let waiter = origins[earlier].queue.popFirst()?.waiter
        else {
            guard let next = origins[position].queue.popFirst() else { return nil }
            waitingCount -= 1
            guard next.mayReuse else { return .replace(next.waiter, origins[position].origin) }
            origins[position].totals.reuses += 1
            return .handOver(next.waiter)
        }
        waitingCount -= 1
        origins[earlier].open += 1
        origins[position].open -= 1
        let target = origins[earlier].origin
        removeIfDeserted(position)
        return .replace(waiter, target)
    }

    /// The origin with a better claim to the connection given back at `position`; nil if there is none.
    private func earlierOrigin(than position: Int) -> Int? {
        let own = origins[position]
        guard let turn = own.queue.first else { return firstInQueue { $0 != position } }
        return firstInQueue { other in
            guard other != position, let first = origins[other].queue.first, first < turn else { return false }
            return origins[other].open == 0 || origins[other].open + 1 < own.open
        }
    }

    /// The origin whose first waiter comes first, among those that may open a connection.
    private func firstInQueue(where isMeant: (Int) -> Bool) -> Int? {
        var best: (position: Int, turn: Pooled.Queue.Position)?
        for (position, pooled) in origins.enumerated() where pooled.open < limits.connectionsPerOrigin {
            guard pooled.hasOthersWaiting, let turn = pooled.queue.first, isMeant(position) else { continue }
            if let best, best.turn < turn { continue }
            best = (position, turn)
        }
        return best?.position
    }
}

// MARK: - Letting go

extension PoolMachine {
    /// Takes an idle connection out of the pool to inspect it, still counted; nil if it is not idle. It must be given
    /// back or reported gone, as inspected.
    mutating func takeIdle(_ id: UInt64) -> (Connection, HTTP.Origin)? {
        for position in origins.indices {
            guard let index = origins[position].idle.firstIndex(where: { $0.connection.id == id }) else { continue }
            idleCount -= 1
            origins[position].lookedAt += 1
            return (origins[position].idle.remove(at: index).connection, origins[position].origin)
        }
        return nil
    }

    private mutating func endLook(_ origin: HTTP.Origin) {
        guard let position = position(of: origin) else { return }
        origins[position].lookedAt -= 1
    }

    /// Removes connections that have been idle too long, which the caller must close. Returns when to come again.
    mutating func expire(at now: HTTP.Instant) -> (expired: [Connection], next: HTTP.Instant) {
        let expired = removeIdle { $0.until <= now }
        nextSweep = origins.lazy.flatMap(\.idle).map(\.until).min() ?? .never
        return (expired, nextSweep)
    }

    /// Removes idle connections of earlier TLS generations, which the caller must close.
    mutating func retire(before tlsGeneration: UInt64 = 0, proxies: UInt64 = 0) -> [Connection] {
        guard tlsGeneration > self.tlsGeneration || proxies > proxyTLSGeneration else { return [] }
        self.tlsGeneration = max(tlsGeneration, self.tlsGeneration)
        proxyTLSGeneration = max(proxies, proxyTLSGeneration)
        let (origins, proxies) = (self.tlsGeneration, proxyTLSGeneration)
        return removeIdle { $0.connection.tlsGeneration < origins || $0.connection.proxyTLSGeneration < proxies }
    }

    /// Nobody waits for an idle connection, so nobody has to be told.
    private mutating func removeIdle(where isMeant: (Pooled.Idle) -> Bool) -> [Connection] {
        var removed: [Connection] = []
        for position in origins.indices.reversed() {
            let meant = origins[position].idle.filter(isMeant)
            guard !meant.isEmpty else { continue }
            origins[position].idle.removeAll(where: isMeant)
            origins[position].open -= meant.count
            removed += meant.map(\.connection)
            removeIfDeserted(position)
        }
        openCount -= removed.count
        idleCount -= removed.count
        return removed
    }

    /// Ends all leasing. The caller must close the idle connections and tell the waiters.
    mutating func close() -> (idle: [Connection], waiters: [Waiter]) {
        isClosed = true
        var idle: [Connection] = []
        var waiters: [Waiter] = []
        for var pooled in origins {
            idle += pooled.idle.map(\.connection)
            while let entry = pooled.queue.popFirst() { waiters.append(entry.waiter) }
            totals.keep(pooled.totals, of: pooled.origin)
        }
        origins.removeAll()
        positions.removeAll()
        (openCount, idleCount, waitingCount) = (0, 0, 0)
        return (idle, waiters)
    }
}

// MARK: - Origins

extension PoolMachine {
    mutating func position(adding origin: HTTP.Origin) -> Int {
        if let position = position(of: origin) { return position }
        origins.append(Pooled(origin: origin, totals: totals.take(origin)))
        positions[origin] = origins.count - 1
        return origins.count - 1
    }

    func position(of origin: HTTP.Origin) -> Int? {
        // Most sessions talk to one origin, and comparing is cheaper than hashing.
        if !origins.isEmpty, origins[0].origin == origin { return 0 }
        return positions[origin]
    }

    /// Forgets an origin that is not in use; the last one moves into the gap.
    mutating func removeIfDeserted(_ position: Int) {
        guard origins[position].isDeserted else { return }
        positions[origins[position].origin] = nil
        totals.keep(origins[position].totals, of: origins[position].origin)
        let last = origins.removeLast()
        guard position < origins.count else { return }
        origins[position] = last
        positions[last.origin] = position
    }
}
