internal import DunlinTypes

/// Who may use which connection: idle ones, the caps, and the lines of those who wait.
///
/// Rules:
/// 1. A connection is counted from the moment somebody is told to open it until it is reported gone.
/// 2. The newest idle connection is used first, one on the asker's own loop before others: old ones get the chance to
///    expire. Idle connections are kept oldest first.
/// 3. A connection is not used when its time is up: too long idle (by our limit or what the server announced), too
///    old, or used too often. That is looked at when it is given back, when it is about to be lent, and in sweeps.
/// 4. There are two caps: for each origin, and over all. When only the latter is in the way, the connection that has
///    been idle longest, whosesoever it is, is closed to make room. So whoever waits does so because their origin has
///    all it may have and none of it idle, or because nothing at all is idle, or by rule 5.
/// 5. An idle connection that is looked at, because something came on it, will be back at once or be gone: for each,
///    one asker waits for that rather than opening another. Nobody else's connection or right goes to those who do.
/// 6. Within an origin who waits is served by priority, then in order of arrival: by a connection that is given back,
///    or by the right to open one when a connection is gone. Another priority counts at once, and arrival as before.
/// 7. Between origins that the total holds back: the right to open goes to the first of all by priority and arrival. A
///    connection that is given back stays with its origin while somebody waits there, unless another origin is worse
///    off, having none or at least two fewer, and its first waiter comes first. So each line moves on, and origins
///    that share a total evenly do not close each other's connections.
/// 8. More than so many do not wait: who comes then is turned away at once.
/// 9. Who may not reuse a connection opens one. Where the origin has all it may have, one of its own idle ones makes
///    room; who had to wait and is handed a connection closes it and opens another in its place.
/// 10. Connections are of TLS generations. Of a generation before the latest that is known none is lent.
/// 11. Never reads a clock, never closes anything: the answer says what to do.
struct PoolMachine<Connection: PoolMember, Waiter> {
    struct Limits: Sendable {
        var connectionsPerOrigin = 128
        var connections = 1024
        /// Of all origins together.
        var waiters = 10_000
        /// Nanoseconds an idle connection is kept.
        var idleTime: Int64 = 60_000_000_000
        /// Nanoseconds after its opening that a connection is used.
        var age = Int64.max
        var uses = Int.max
    }

    enum LeaseAction {
        case use(Connection)
        /// Open one, and close the one that makes room for it, if there is one; report `gone` if opening fails.
        case open(closing: Connection?)
        /// Its time is up: close it, report it gone, and ask again.
        case retire(Connection)
        case wait(Waiter, number: UInt64)
        /// Too many wait already.
        case turnAway
        case refuse
    }

    enum GiveBackAction {
        /// It is idle now; when `sweepAt` is set, somebody must call `expire` then.
        case keep(sweepAt: MonotonicTime?)
        case handOver(Waiter)
        /// Close it; who is named may open one to that origin in its stead.
        case replace(Waiter, HTTP.Origin)
        /// Close it and report it gone.
        case close
    }

    let limits: Limits
    /// One for each origin in use. A place changes where it stands: a dictionary of places would hand out each change
    /// through an accessor that allocates.
    private var places: [Place] = []
    private var positions: [HTTP.Origin: Int] = [:]
    private var nextNumber: UInt64 = 0
    /// When `expire` will be called next.
    private var nextSweep = MonotonicTime.never
    private var isClosed = false
    private var tlsGeneration: UInt64 = 0
    private(set) var openCount = 0
    private(set) var idleCount = 0
    private(set) var waitingCount = 0
    /// How often an open connection was lent, since the beginning.
    private(set) var reuseCount = 0

    init(limits: Limits) {
        self.limits = limits
    }

    func openCount(to origin: HTTP.Origin) -> Int {
        position(of: origin).map { places[$0].open } ?? 0
    }
}

// MARK: - Asking

extension PoolMachine {
    mutating func lease(
        _ origin: HTTP.Origin, on loop: ObjectIdentifier, at now: MonotonicTime, _ priority: HTTP.Priority,
        mayReuse: Bool = true, waiter: () -> Waiter
    ) -> LeaseAction {
        if isClosed { return .refuse }
        let number = nextNumber
        nextNumber += 1
        let position = position(adding: origin)
        if mayReuse, let found = places[position].takeIdle(on: loop) {
            idleCount -= 1
            guard found.until > now else { return .retire(found.connection) }
            reuseCount += 1
            return .use(found.connection)
        }
        if mayReuse, places[position].mayAwaitOne, waitingCount < limits.waiters {
            return queue(waiter(), at: position, priority, number)
        }
        if places[position].open < limits.connectionsPerOrigin {
            if openCount < limits.connections {
                grant(position)
                return .open(closing: nil)
            }
            if idleCount > 0 { return .open(closing: displaceOldest(for: position)) }
        } else if !mayReuse, !places[position].idle.isEmpty {
            idleCount -= 1
            return .open(closing: places[position].idle.removeFirst().connection)
        }
        guard waitingCount < limits.waiters else {
            removeIfDeserted(position)
            return .turnAway
        }
        return queue(waiter(), at: position, priority, number)
    }

    private mutating func queue(
        _ waiter: Waiter, at position: Int, _ priority: HTTP.Priority, _ number: UInt64
    ) -> LeaseAction {
        places[position].line.append(waiter, priority: priority, number: number)
        waitingCount += 1
        return .wait(waiter, number: number)
    }

    /// The right to open a connection nobody asked for yet, unless `count` are open; it closes and outruns nobody.
    mutating func reserve(_ origin: HTTP.Origin, upTo count: Int) -> Bool {
        if isClosed { return false }
        let position = position(adding: origin)
        guard places[position].open < min(count, limits.connectionsPerOrigin), openCount < limits.connections else {
            removeIfDeserted(position)
            return false
        }
        grant(position)
        return true
    }

    /// The waiter gave up before it was served.
    mutating func leave(_ origin: HTTP.Origin, _ number: UInt64) {
        guard let position = position(of: origin), places[position].line.leave(number) != nil else { return }
        waitingCount -= 1
        removeIfDeserted(position)
    }

    /// From now on the waiter counts with this priority, unless it was served already.
    mutating func move(_ origin: HTTP.Origin, _ number: UInt64, to priority: HTTP.Priority) {
        guard let position = position(of: origin) else { return }
        places[position].line.move(number, to: priority)
    }

    private mutating func grant(_ position: Int) {
        places[position].open += 1
        openCount += 1
    }

    /// Takes what has been idle longest, to make room at `position`.
    private mutating func displaceOldest(for position: Int) -> Connection? {
        places[position].open += 1
        var oldest: (position: Int, since: MonotonicTime)?
        for (other, place) in places.enumerated() {
            guard let since = place.idle.first?.since, since < oldest?.since ?? .never else { continue }
            oldest = (other, since)
        }
        guard let oldest else { return nil }
        let connection = places[oldest.position].idle.removeFirst().connection
        idleCount -= 1
        places[oldest.position].open -= 1
        removeIfDeserted(oldest.position)
        return connection
    }
}

// MARK: - Giving back

extension PoolMachine {
    /// The connection is fit for another request, or still is after it was looked at.
    mutating func giveBack(
        _ connection: Connection, to origin: HTTP.Origin, at now: MonotonicTime, wasLookedAt: Bool = false
    ) -> GiveBackAction {
        if wasLookedAt { endLook(origin) }
        let end = connection.opened.advanced(by: limits.age)
        guard !isClosed, end > now, connection.uses < limits.uses, connection.idleLimit > 0,
            connection.tlsGeneration >= tlsGeneration, let position = position(of: origin)
        else { return .close }
        if waitingCount > 0, let served = serve(from: position) { return served }
        let until = min(now.advanced(by: min(limits.idleTime, connection.idleLimit)), end)
        places[position].idle.append(Place.Idle(connection: connection, since: now, until: until))
        idleCount += 1
        guard until < nextSweep else { return .keep(sweepAt: nil) }
        nextSweep = until
        return .keep(sweepAt: until)
    }

    /// A connection was closed or could not be opened; whoever is returned may open one, to the origin named.
    mutating func gone(_ origin: HTTP.Origin, wasLookedAt: Bool = false) -> (Waiter, HTTP.Origin)? {
        if wasLookedAt { endLook(origin) }
        guard let position = position(of: origin) else { return nil }
        let wasFull = openCount >= limits.connections
        places[position].open -= 1
        openCount -= 1
        guard waitingCount > 0, let next = firstInLine(where: { wasFull || $0 == position }),
            let waiter = places[next].line.popFirst()
        else {
            removeIfDeserted(position)
            return nil
        }
        waitingCount -= 1
        grant(next)
        let target = places[next].origin
        removeIfDeserted(position)
        return (waiter, target)
    }

    private mutating func serve(from position: Int) -> GiveBackAction? {
        // Below the total nobody waits but for their own origin.
        guard openCount >= limits.connections, let rival = rival(of: position),
            let waiter = places[rival].line.popFirst()
        else {
            guard let waiter = places[position].line.popFirst() else { return nil }
            waitingCount -= 1
            reuseCount += 1
            return .handOver(waiter)
        }
        waitingCount -= 1
        places[rival].open += 1
        places[position].open -= 1
        let target = places[rival].origin
        removeIfDeserted(position)
        return .replace(waiter, target)
    }

    /// The origin, if there is one, that has the better claim to what is given back at `position`.
    private func rival(of position: Int) -> Int? {
        let own = places[position]
        guard let turn = own.line.first else { return firstInLine { $0 != position } }
        return firstInLine { other in
            guard other != position, let first = places[other].line.first, first < turn else { return false }
            return places[other].open == 0 || places[other].open + 1 < own.open
        }
    }

    /// The origin whose first waiter comes first, among those that may open a connection.
    private func firstInLine(where isMeant: (Int) -> Bool) -> Int? {
        var best: (position: Int, turn: PriorityQueue<Waiter>.Position)?
        for (position, place) in places.enumerated() where place.open < limits.connectionsPerOrigin {
            guard place.hasOthersWaiting, let turn = place.line.first, isMeant(position) else { continue }
            if let best, best.turn < turn { continue }
            best = (position, turn)
        }
        return best?.position
    }
}

// MARK: - Letting go

extension PoolMachine {
    /// Takes an idle connection out of the pool to look at it, still counted; nil if it is not idle. It must come back,
    /// or be reported gone, as one that was looked at.
    mutating func takeIdle(_ id: UInt64) -> (Connection, HTTP.Origin)? {
        for position in places.indices {
            guard let index = places[position].idle.firstIndex(where: { $0.connection.id == id }) else { continue }
            idleCount -= 1
            places[position].lookedAt += 1
            return (places[position].idle.remove(at: index).connection, places[position].origin)
        }
        return nil
    }

    private mutating func endLook(_ origin: HTTP.Origin) {
        guard let position = position(of: origin) else { return }
        places[position].lookedAt -= 1
    }

    /// Takes out what has been idle for too long; the caller closes it. Says when to come again.
    mutating func expire(at now: MonotonicTime) -> (expired: [Connection], next: MonotonicTime) {
        let expired = removeIdle { $0.until <= now }
        nextSweep = places.lazy.flatMap(\.idle).map(\.until).min() ?? .never
        return (expired, nextSweep)
    }

    /// Takes out what is idle of earlier TLS generations; the caller closes it.
    mutating func retire(before tlsGeneration: UInt64) -> [Connection] {
        guard tlsGeneration > self.tlsGeneration else { return [] }
        self.tlsGeneration = tlsGeneration
        return removeIdle { $0.connection.tlsGeneration < tlsGeneration }
    }

    /// Nobody waits for what is idle, so nobody is to be told.
    private mutating func removeIdle(where isMeant: (Place.Idle) -> Bool) -> [Connection] {
        var removed: [Connection] = []
        for position in places.indices.reversed() {
            let meant = places[position].idle.filter(isMeant)
            guard !meant.isEmpty else { continue }
            places[position].idle.removeAll(where: isMeant)
            places[position].open -= meant.count
            removed += meant.map(\.connection)
            removeIfDeserted(position)
        }
        openCount -= removed.count
        idleCount -= removed.count
        return removed
    }

    /// No more leases. Idle connections are to be closed and waiters told.
    mutating func close() -> (idle: [Connection], waiters: [Waiter]) {
        isClosed = true
        var idle: [Connection] = []
        var waiters: [Waiter] = []
        for var place in places {
            idle += place.idle.map(\.connection)
            while let waiter = place.line.popFirst() { waiters.append(waiter) }
        }
        places.removeAll()
        positions.removeAll()
        (openCount, idleCount, waitingCount) = (0, 0, 0)
        return (idle, waiters)
    }
}

// MARK: - Places

extension PoolMachine {
    /// What there is of one origin.
    private struct Place {
        struct Idle {
            var connection: Connection
            var since: MonotonicTime
            /// When it may not be used any more.
            var until: MonotonicTime
        }

        let origin: HTTP.Origin
        var open = 0
        var idle: [Idle] = []
        var line = PriorityQueue<Waiter>()
        /// Open, and soon idle again or gone.
        var lookedAt = 0

        var mayAwaitOne: Bool { lookedAt > 0 && line.count < lookedAt }
        /// More than those who wait for what is looked at.
        var hasOthersWaiting: Bool { lookedAt == 0 || line.count > lookedAt }
        var isDeserted: Bool { open == 0 && line.isEmpty }

        /// The newest, or the newest on `loop` if there is one.
        mutating func takeIdle(on loop: ObjectIdentifier) -> Idle? {
            guard let newest = idle.last else { return nil }
            guard newest.connection.loop != loop,
                let near = idle.lastIndex(where: { $0.connection.loop == loop })
            else { return idle.removeLast() }
            return idle.remove(at: near)
        }
    }

    private mutating func position(adding origin: HTTP.Origin) -> Int {
        if let position = position(of: origin) { return position }
        places.append(Place(origin: origin))
        positions[origin] = places.count - 1
        return places.count - 1
    }

    private func position(of origin: HTTP.Origin) -> Int? {
        // Most sessions talk to one origin, and comparing is cheaper than hashing.
        if !places.isEmpty, places[0].origin == origin { return 0 }
        return positions[origin]
    }

    /// Forgets an origin that nobody uses; the last place moves into the gap.
    private mutating func removeIfDeserted(_ position: Int) {
        guard places[position].isDeserted else { return }
        positions[places[position].origin] = nil
        let last = places.removeLast()
        guard position < places.count else { return }
        places[position] = last
        positions[last.origin] = position
    }
}

/// What the pool must know of a connection.
protocol PoolMember {
    var id: UInt64 { get }
    /// The loop it lives on.
    var loop: ObjectIdentifier { get }
    var opened: MonotonicTime { get }
    /// How many requests it has served.
    var uses: Int { get }
    /// Nanoseconds it may be idle, by what the server said last.
    var idleLimit: Int64 { get }
    /// What it was agreed on by.
    var tlsGeneration: UInt64 { get }
}
