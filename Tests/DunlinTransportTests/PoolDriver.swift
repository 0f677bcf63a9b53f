import DunlinTypes
import Testing

@testable import DunlinTransport

/// A connection as far as the pool looks.
struct Member: PoolMember, Hashable {
    final class Loop: Sendable {}

    static let loops = [Loop(), Loop()]

    var id: UInt64
    var number = 0
    var opened = HTTP.Instant(nanoseconds: 0)
    var uses = 1
    var idleLimit = Int64.max
    var tlsGeneration: UInt64 = 0
    var proxyTLSGeneration = UInt64.max

    var loop: ObjectIdentifier { ObjectIdentifier(Self.loops[number]) }
}

/// Tells a pool machine what happens, and puts its answers into values.
final class PoolDriver {
    enum Said: Equatable {
        case use(UInt64)
        case open
        case openClosing(UInt64)
        case retire(UInt64)
        case wait(UInt64)
        case openBeyond
        case turnAway
        case refuse
        case keep(sweepAt: Int64?)
        case handOver(UInt64)
        case replace(UInt64, String)
        case close
    }

    struct Expiry: Equatable {
        var expired: [UInt64]
        var next: Int64
    }

    static let first = HTTP.Origin(scheme: .http, host: "a")

    private(set) var machine: PoolMachine<Member, UInt64>
    private var nextWaiter: UInt64 = 0

    init(
        cap: Int, total: Int = 1000, waiters: Int = .max, idleTime: Int64 = 100, age: Int64 = .max, uses: Int = .max
    ) {
        machine = PoolMachine(
            limits: .init(
                connectionsPerOrigin: cap, connections: total, waiters: waiters, idleTime: idleTime, age: age,
                uses: uses))
    }

    /// Waiters are called by the numbers the machine gives them.
    func lease(
        _ origin: HTTP.Origin = first, on loop: Int = 0, at now: Int64 = 0, _ priority: HTTP.Priority = .normal,
        mayReuse: Bool = true, standing: PoolStanding = .waits
    ) -> Said {
        defer { nextWaiter += 1 }
        let (loop, now) = (ObjectIdentifier(Member.loops[loop]), HTTP.Instant(nanoseconds: now))
        switch machine.lease(
            origin, on: loop, at: now, priority, mayReuse: mayReuse, standing: { standing }, waiter: { nextWaiter })
        {
        case .use(let member): return .use(member.id)
        case .open(let displaced?): return .openClosing(displaced.id)
        case .open(nil): return .open
        case .retire(let member): return .retire(member.id)
        case .wait(let waiter, let number):
            #expect(waiter == number)
            return .wait(waiter)
        case .openBeyond: return .openBeyond
        case .turnAway: return .turnAway
        case .refuse: return .refuse
        }
    }

    func giveBack(_ id: UInt64, to origin: HTTP.Origin = first, on loop: Int = 0, at now: Int64 = 0) -> Said {
        giveBack(Member(id: id, number: loop), to: origin, at: now)
    }

    func giveBack(
        _ member: Member, to origin: HTTP.Origin = first, at now: Int64 = 0, wasLookedAt: Bool = false
    ) -> Said {
        let now = HTTP.Instant(nanoseconds: now)
        switch machine.giveBack(member, to: origin, at: now, wasLookedAt: wasLookedAt) {
        case .keep(let time): return .keep(sweepAt: time?.nanoseconds)
        case .handOver(let waiter): return .handOver(waiter)
        case .replace(let waiter, let origin): return .replace(waiter, origin.host)
        case .close: return .close
        }
    }

    func gone(_ origin: HTTP.Origin = first, wasLookedAt: Bool = false) -> UInt64? {
        machine.gone(origin, wasLookedAt: wasLookedAt)?.0
    }

    func goneBeyond(_ origin: HTTP.Origin = first) -> UInt64? { machine.goneBeyond(origin)?.0 }

    func reserve(_ origin: HTTP.Origin = first, upTo count: Int) -> Bool { machine.reserve(origin, upTo: count) }
    func leave(_ number: UInt64, _ origin: HTTP.Origin = first) { machine.leave(origin, number) }
    func move(_ number: UInt64, _ origin: HTTP.Origin = first, to priority: HTTP.Priority) {
        machine.move(origin, number, to: priority)
    }
    func enter(_ phase: OpeningPhase, after previous: OpeningPhase?, _ origin: HTTP.Origin = first) {
        machine.enter(phase, after: previous, origin)
    }
    func endOpening(_ origin: HTTP.Origin = first, in phase: OpeningPhase, _ end: OpeningEnd) {
        machine.endOpening(origin, in: phase, end)
    }
    func takeIdle(_ id: UInt64) -> UInt64? { machine.takeIdle(id)?.0.id }

    func expire(at now: Int64) -> Expiry {
        let (expired, next) = machine.expire(at: HTTP.Instant(nanoseconds: now))
        return Expiry(expired: expired.map(\.id), next: next.nanoseconds)
    }

    func retire(before tlsGeneration: UInt64 = 0, proxies: UInt64 = 0) -> [UInt64] {
        machine.retire(before: tlsGeneration, proxies: proxies).map(\.id)
    }

    func close() -> [[UInt64]] {
        let (idle, waiters) = machine.close()
        return [idle.map(\.id), waiters]
    }

    /// Open within the caps, idle, waiting.
    var counts: [Int] { [machine.openCount, machine.idleCount, machine.waitingCount] }
}
