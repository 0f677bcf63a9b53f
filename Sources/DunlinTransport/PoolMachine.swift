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
        var open = 0
        var idle: [Idle] = []
        var line = WaitingLine<Waiter>()

        var isDeserted: Bool { open == 0 && line.isEmpty }
    }

    let limits: Limits
    private var places: [Origin: Place] = [:]
    private var nextNumber: UInt64 = 0
    private var isSweepScheduled = false
    private var isClosed = false

    init(limits: Limits) {
        self.limits = limits
    }

    var openCount: Int { places.values.reduce(0) { $0 + $1.open } }
    var idleCount: Int { places.values.reduce(0) { $0 + $1.idle.count } }
    var waitingCount: Int { places.values.reduce(0) { $0 + $1.line.count } }

    mutating func lease(_ origin: Origin, on loop: ObjectIdentifier, waiter: () -> Waiter) -> LeaseAction {
        if isClosed { return .refuse }
        let number = nextNumber
        nextNumber += 1
        return Self.lease(from: &places[origin, default: Place()], limits, on: loop, number, waiter)
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
        _ = places[origin]?.line.leave(number)
        removeIfDeserted(origin)
    }

    /// The connection is fit for another request.
    mutating func giveBack(_ connection: Connection, to origin: Origin, at now: MonotonicTime) -> GiveBackAction {
        guard !isClosed, places[origin] != nil else { return .close }
        if let waiter = places[origin]?.line.popFirst() { return .handOver(waiter) }
        places[origin]?.idle.append(Idle(connection: connection, since: now))
        if isSweepScheduled { return .keep(sweepAt: nil) }
        isSweepScheduled = true
        return .keep(sweepAt: now.advanced(by: limits.idleTime))
    }

    /// A connection was closed or could not be opened; whoever is returned may open one in its stead.
    mutating func gone(_ origin: Origin) -> Waiter? {
        guard places[origin] != nil else { return nil }
        if let waiter = places[origin]?.line.popFirst() { return waiter }
        places[origin]?.open -= 1
        removeIfDeserted(origin)
        return nil
    }

    /// Takes an idle connection out of the pool, still counted; nil if it is not idle.
    mutating func takeIdle(_ id: UInt64) -> (Connection, Origin)? {
        for (origin, place) in places {
            guard let index = place.idle.firstIndex(where: { $0.connection.id == id }) else { continue }
            places[origin]?.idle.remove(at: index)
            return (place.idle[index].connection, origin)
        }
        return nil
    }

    /// Takes out what has been idle for too long; the caller closes it. Says when to come again.
    mutating func expire(at now: MonotonicTime) -> (expired: [Connection], next: MonotonicTime) {
        var expired: [Connection] = []
        var next = MonotonicTime.never
        for origin in Array(places.keys) {
            let idle = places[origin]?.idle ?? []
            let fresh = idle.firstIndex { $0.since.advanced(by: limits.idleTime) > now } ?? idle.endIndex
            expired += idle[..<fresh].map(\.connection)
            places[origin]?.idle.removeFirst(fresh)
            places[origin]?.open -= fresh
            if fresh < idle.endIndex { next = min(next, idle[fresh].since.advanced(by: limits.idleTime)) }
            removeIfDeserted(origin)
        }
        isSweepScheduled = next < .never
        return (expired, next)
    }

    /// No more leases. Idle connections are to be closed and waiters told.
    mutating func close() -> (idle: [Connection], waiters: [Waiter]) {
        isClosed = true
        var idle: [Connection] = []
        var waiters: [Waiter] = []
        for var place in places.values {
            idle += place.idle.map(\.connection)
            while let waiter = place.line.popFirst() { waiters.append(waiter) }
        }
        places.removeAll()
        return (idle, waiters)
    }

    private mutating func removeIfDeserted(_ origin: Origin) {
        if places[origin]?.isDeserted == true { places[origin] = nil }
    }
}

/// What the pool must know of a connection.
protocol PoolMember {
    var id: UInt64 { get }
    /// The loop it lives on.
    var loop: ObjectIdentifier { get }
}
