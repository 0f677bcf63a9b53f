internal import DunlinTypes

/// Who may use which connection: idle ones, the cap of each origin, and the line of those who wait.
///
/// Rules:
/// 1. A connection is counted from the moment somebody is told to open it until it is reported gone.
/// 2. The newest idle connection is used first, one on the asker's own loop before others: old ones get the chance to
///    expire. Idle connections are kept oldest first.
/// 3. Who waits is served in order of arrival, before anybody who comes later: by a connection that is given back, or
///    by the right to open one when a connection is gone.
/// 4. Never reads a clock, never closes anything: the answer says what to do.
struct PoolMachine<Connection: PoolMember, Waiter> {
    struct Limits: Sendable {
        var connectionsPerOrigin = 128
        /// Nanoseconds an idle connection is kept.
        var idleTime: Int64 = 60_000_000_000
    }

    enum LeaseAction {
        case use(Connection)
        /// Open one; report `.gone` if that fails.
        case open
        case wait(Waiter, number: UInt64)
        case refuse
    }

    enum GiveBackAction {
        /// It is idle now; when `sweepAt` is set, somebody must call `expire` then.
        case keep(sweepAt: MonotonicTime?)
        case handOver(Waiter)
        case close
    }

    private struct Idle {
        var connection: Connection
        var since: MonotonicTime
    }

    private struct Place {
        let origin: Origin
        var open = 0
        var idle: [Idle] = []
        var line = WaitingLine<Waiter>()

        var isDeserted: Bool { open == 0 && line.isEmpty }
    }

    let limits: Limits
    /// One for each origin in use. A place changes where it stands: a dictionary of places would hand out each change
    /// through an accessor that allocates.
    private var places: [Place] = []
    private var positions: [Origin: Int] = [:]
    private var nextNumber: UInt64 = 0
    private var isSweepScheduled = false
    private var isClosed = false

    init(limits: Limits) {
        self.limits = limits
    }

    var openCount: Int { places.reduce(0) { $0 + $1.open } }
    var idleCount: Int { places.reduce(0) { $0 + $1.idle.count } }
    var waitingCount: Int { places.reduce(0) { $0 + $1.line.count } }

    mutating func lease(_ origin: Origin, on loop: ObjectIdentifier, waiter: () -> Waiter) -> LeaseAction {
        if isClosed { return .refuse }
        let number = nextNumber
        nextNumber += 1
        return Self.lease(from: &places[position(adding: origin)], limits, on: loop, number, waiter)
    }

    private mutating func position(adding origin: Origin) -> Int {
        if let position = position(of: origin) { return position }
        places.append(Place(origin: origin))
        positions[origin] = places.count - 1
        return places.count - 1
    }

    private func position(of origin: Origin) -> Int? {
        // Most sessions talk to one origin, and comparing is cheaper than hashing.
        if !places.isEmpty, places[0].origin == origin { return 0 }
        return positions[origin]
    }

    private static func lease(
        from place: inout Place, _ limits: Limits, on loop: ObjectIdentifier, _ number: UInt64, _ waiter: () -> Waiter
    ) -> LeaseAction {
        if let newest = place.idle.last {
            guard newest.connection.loop != loop,
                let near = place.idle.lastIndex(where: { $0.connection.loop == loop })
            else { return .use(place.idle.removeLast().connection) }
            return .use(place.idle.remove(at: near).connection)
        }
        if place.open < limits.connectionsPerOrigin {
            place.open += 1
            return .open
        }
        let waiter = waiter()
        place.line.append(waiter, number: number)
        return .wait(waiter, number: number)
    }

    /// The waiter gave up before it was served.
    mutating func leave(_ origin: Origin, _ number: UInt64) {
        guard let position = position(of: origin) else { return }
        _ = places[position].line.leave(number)
        removeIfDeserted(position)
    }

    /// The connection is fit for another request.
    mutating func giveBack(_ connection: Connection, to origin: Origin, at now: MonotonicTime) -> GiveBackAction {
        guard !isClosed, let position = position(of: origin) else { return .close }
        if let waiter = places[position].line.popFirst() { return .handOver(waiter) }
        places[position].idle.append(Idle(connection: connection, since: now))
        if isSweepScheduled { return .keep(sweepAt: nil) }
        isSweepScheduled = true
        return .keep(sweepAt: now.advanced(by: limits.idleTime))
    }

    /// A connection was closed or could not be opened; whoever is returned may open one in its stead.
    mutating func gone(_ origin: Origin) -> Waiter? {
        guard let position = position(of: origin) else { return nil }
        if let waiter = places[position].line.popFirst() { return waiter }
        places[position].open -= 1
        removeIfDeserted(position)
        return nil
    }

    /// Takes an idle connection out of the pool, still counted; nil if it is not idle.
    mutating func takeIdle(_ id: UInt64) -> (Connection, Origin)? {
        for position in places.indices {
            guard let index = places[position].idle.firstIndex(where: { $0.connection.id == id }) else { continue }
            return (places[position].idle.remove(at: index).connection, places[position].origin)
        }
        return nil
    }

    /// Takes out what has been idle for too long; the caller closes it. Says when to come again.
    mutating func expire(at now: MonotonicTime) -> (expired: [Connection], next: MonotonicTime) {
        var expired: [Connection] = []
        var next = MonotonicTime.never
        for position in places.indices.reversed() {
            let idle = places[position].idle
            let fresh = idle.firstIndex { $0.since.advanced(by: limits.idleTime) > now } ?? idle.endIndex
            expired += idle[..<fresh].map(\.connection)
            places[position].idle.removeFirst(fresh)
            places[position].open -= fresh
            if fresh < idle.endIndex { next = min(next, idle[fresh].since.advanced(by: limits.idleTime)) }
            removeIfDeserted(position)
        }
        isSweepScheduled = next < .never
        return (expired, next)
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
        return (idle, waiters)
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
}
