import DunlinTypes
import Testing

@testable import DunlinTransport

/// What the pool must look like from outside, kept by hand while a machine is driven at random. It says each rule in
/// the plainest way and looks at everything each time.
struct PoolModel {
    struct Shape: Sendable {
        var cap: Int
        var total: Int
        var origins: Int
        var waiters = Int.max
    }

    struct Idle {
        var id: UInt64
        var since: Int64
        var until: Int64
    }

    typealias Turn = PriorityQueue<UInt64>.Position

    static let idleTime: Int64 = 50
    static let uses = 6

    let shape: Shape
    let origins: [HTTP.Origin]
    /// Connections lent out, rights to open included: a right becomes a connection at once.
    var lent: [[UInt64]]
    /// Oldest first.
    var idle: [[Idle]]
    /// Something came on them while they were idle.
    var lookedAt: [[UInt64]]
    /// First come first.
    var queue: [[Turn]]
    /// Those who wait and may not reuse a connection, by number; some have left.
    private var opening: Set<UInt64> = []
    private var useCounts: [UInt64: Int] = [:]
    /// How often an open connection was lent, by origin.
    private var reuses: [Int]
    private var lastID: UInt64 = 0
    private var tlsGeneration: UInt64 = 0
    private var tlsGenerations: [UInt64: UInt64] = [:]
    var now: Int64 = 0

    init(_ shape: Shape) {
        self.shape = shape
        origins = (0..<shape.origins).map { HTTP.Origin(scheme: .http, host: "h\($0)") }
        lent = Array(repeating: [], count: shape.origins)
        idle = Array(repeating: [], count: shape.origins)
        lookedAt = lent
        reuses = Array(repeating: 0, count: shape.origins)
        queue = Array(repeating: [], count: shape.origins)
    }

    private func open(_ origin: Int) -> Int { lent[origin].count + idle[origin].count + lookedAt[origin].count }
    private var openCount: Int { origins.indices.reduce(0) { $0 + open($1) } }
    private func first(_ origin: Int) -> Turn? { queue[origin].min() }

    /// Every third connection is to a server that keeps it for a shorter time.
    private func idleLimit(of id: UInt64) -> Int64 { id.isMultiple(of: 3) ? 20 : .max }

    private mutating func lend(_ id: UInt64, at origin: Int) {
        lent[origin].append(id)
        useCounts[id, default: 0] += 1
    }

    private mutating func open(at origin: Int) {
        lastID += 1
        // Every fourth is in clear text, and never outdated.
        tlsGenerations[lastID] = lastID.isMultiple(of: 4) ? .max : tlsGeneration
        lend(lastID, at: origin)
    }

    /// Whether there is no room for more to `origin`, and nothing that would make it.
    private func isHeldBack(_ origin: Int) -> Bool {
        idle[origin].isEmpty && (open(origin) == shape.cap || (openCount == shape.total && idle.joined().isEmpty))
    }

    private func reusing(_ origin: Int) -> [Turn] { queue[origin].filter { !opening.contains($0.number) } }

    /// Whether one more may wait for what is looked at.
    private func mayAwaitOne(_ origin: Int) -> Bool {
        idle[origin].isEmpty && reusing(origin).count < lookedAt[origin].count
    }

    /// Whose turn it is to `origin`; nobody's if all wait for what is looked at.
    private func claim(_ origin: Int) -> Turn? {
        queue[origin].count > min(reusing(origin).count, lookedAt[origin].count) ? first(origin) : nil
    }
}

// MARK: - Steps

extension PoolModel {
    mutating func lease(
        at origin: Int, _ priority: HTTP.Priority, mayReuse: Bool = true, from pool: PoolDriver
    ) {
        let isFree = idle[origin].isEmpty || !mayReuse
        switch pool.lease(origins[origin], at: now, priority, mayReuse: mayReuse) {
        case .use(let id):
            let taken = idle[origin].removeLast()
            #expect(taken.id == id && taken.until > now && mayReuse)
            reuses[origin] += 1
            lend(id, at: origin)
        case .retire(let id):
            let taken = idle[origin].removeLast()
            #expect(taken.id == id && taken.until <= now && mayReuse)
            lent[origin].append(id)
            gone(id, at: origin, from: pool)
        case .open:
            #expect(isFree && open(origin) < shape.cap && openCount < shape.total)
            #expect(!mayReuse || !mayAwaitOne(origin) || queue.joined().count == shape.waiters)
            open(at: origin)
        case .openClosing(let id):
            if open(origin) == shape.cap {
                #expect(!mayReuse && idle[origin].first?.id == id)
            } else {
                let oldest = idle.joined().map(\.since).min()
                #expect(isFree && openCount == shape.total)
                #expect(idle.contains { $0.first?.id == id && $0.first?.since == oldest })
            }
            for other in idle.indices { idle[other].removeAll { $0.id == id } }
            open(at: origin)
        case .wait(let number):
            #expect(isHeldBack(origin) || (mayReuse && mayAwaitOne(origin)))
            #expect(queue.joined().count < shape.waiters)
            queue[origin].append(Turn(priority: priority, number: number))
            if !mayReuse { opening.insert(number) }
        case .turnAway:
            #expect(isHeldBack(origin) && queue.joined().count == shape.waiters)
        case let other: Issue.record("a lease answered \(other)")
        }
    }

    mutating func giveBack(_ id: UInt64, at origin: Int, to pool: PoolDriver, wasLookedAt: Bool = false) {
        let isFull = openCount == shape.total
        lent[origin].removeAll { $0 == id }
        lookedAt[origin].removeAll { $0 == id }
        let uses = useCounts[id, default: 0]
        let itsEdition = tlsGenerations[id, default: 0]
        let member = Member(id: id, uses: uses, idleLimit: idleLimit(of: id), tlsGeneration: itsEdition)
        switch pool.giveBack(member, to: origins[origin], at: now, wasLookedAt: wasLookedAt) {
        case .close:
            #expect(uses >= Self.uses || itsEdition < tlsGeneration)
            lent[origin].append(id)
            gone(id, at: origin, from: pool)
        case .handOver(let waiter):
            #expect(first(origin)?.number == waiter && itsEdition >= tlsGeneration)
            #expect(!opening.contains(waiter), "a connection for who may not reuse one")
            #expect(!isFull || rival(of: origin) == nil)
            queue[origin].removeAll { $0.number == waiter }
            reuses[origin] += 1
            lend(id, at: origin)
        case .replace(let waiter, let host):
            let rival = isFull ? rival(of: origin) : nil
            let target = rival ?? origin
            #expect(origins[target].host == host && first(target)?.number == waiter)
            #expect(rival != nil || opening.contains(waiter))
            queue[target].removeAll { $0.number == waiter }
            open(at: target)
        case .keep:
            #expect(itsEdition >= tlsGeneration)
            #expect(queue[origin].isEmpty && (!isFull || rival(of: origin) == nil))
            idle[origin].append(Idle(id: id, since: now, until: now + min(Self.idleTime, idleLimit(of: id))))
        case let other: Issue.record("a connection given back was answered \(other)")
        }
    }

    /// Who else has the better claim to a connection just taken out of `lent[origin]`.
    private func rival(of origin: Int) -> Int? {
        let ownCount = open(origin) + 1
        let rivals = origins.indices.filter { other in
            guard other != origin, open(other) < shape.cap, let turn = claim(other) else { return false }
            guard let own = first(origin) else { return true }
            return turn < own && (open(other) == 0 || open(other) + 2 <= ownCount)
        }
        return rivals.compactMap { other in first(other).map { (other, $0) } }.min { $0.1 < $1.1 }?.0
    }

    mutating func gone(_ id: UInt64, at origin: Int, from pool: PoolDriver, wasLookedAt: Bool = false) {
        lent[origin].removeAll { $0 == id }
        lookedAt[origin].removeAll { $0 == id }
        let eligible = origins.indices.filter { open($0) < shape.cap }
        let next = eligible.compactMap { origin in claim(origin).map { (origin, $0) } }.min { $0.1 < $1.1 }
        #expect(pool.gone(origins[origin], wasLookedAt: wasLookedAt) == next?.1.number)
        guard let (origin, turn) = next else { return }
        queue[origin].removeAll { $0 == turn }
        open(at: origin)
    }

    mutating func reserve(at origin: Int, from pool: PoolDriver) {
        let isGranted = pool.reserve(origins[origin], upTo: 2)
        #expect(isGranted == (open(origin) < min(2, shape.cap) && openCount < shape.total))
        if isGranted { open(at: origin) }
    }

    mutating func leave(_ number: UInt64, at origin: Int, from pool: PoolDriver) {
        pool.leave(number, origins[origin])
        queue[origin].removeAll { $0.number == number }
    }

    mutating func move(_ number: UInt64, at origin: Int, to priority: HTTP.Priority, in pool: PoolDriver) {
        pool.move(number, origins[origin], to: priority)
        guard let index = queue[origin].firstIndex(where: { $0.number == number }) else { return }
        queue[origin][index] = Turn(priority: priority, number: number)
    }

    /// Something came on an idle connection: it is taken out, and comes back or is reported gone later.
    mutating func lookAt(_ id: UInt64, at origin: Int, _ pool: PoolDriver) {
        #expect(pool.takeIdle(id) == id)
        idle[origin].removeAll { $0.id == id }
        lookedAt[origin].append(id)
    }

    mutating func expire(in pool: PoolDriver) {
        let swept = pool.expire(at: now)
        let due = idle.joined().filter { $0.until <= now }.map(\.id)
        #expect(Set(swept.expired) == Set(due) && swept.expired.count == due.count)
        for origin in idle.indices { idle[origin].removeAll { $0.until <= now } }
        #expect(swept.next == idle.joined().map(\.until).min() ?? .max)
    }

    mutating func retire(in pool: PoolDriver) {
        tlsGeneration += 1
        let outdated = idle.joined().map(\.id).filter { tlsGenerations[$0, default: 0] < tlsGeneration }
        #expect(Set(pool.retire(before: tlsGeneration)) == Set(outdated))
        for origin in idle.indices { idle[origin].removeAll { outdated.contains($0.id) } }
    }

    func check(_ pool: PoolDriver) {
        let (lentCount, idleCount) = (lent.joined().count + lookedAt.joined().count, idle.joined().count)
        #expect(pool.counts == [lentCount + idleCount, idleCount, queue.joined().count])
        #expect(openCount <= shape.total)
        for origin in origins.indices {
            #expect(open(origin) <= shape.cap)
            #expect(pool.machine.openCount(to: origins[origin]) == open(origin))
            let gauges = pool.machine.counts.origins.first { $0.origin == origins[origin] }?.gauges
            let expected = [open(origin), idle[origin].count, queue[origin].count, reuses[origin]]
            #expect([gauges?.open ?? 0, gauges?.idle ?? 0, gauges?.waiting ?? 0, gauges?.reuses ?? 0] == expected)
            #expect(claim(origin) == nil || isHeldBack(origin), "somebody waits while there is room")
            #expect(queue[origin].isEmpty || idle[origin].isEmpty, "somebody waits beside an idle connection")
        }
        let all = Array((lent + lookedAt).joined()) + idle.joined().map(\.id)
        #expect(Set(all).count == all.count, "a connection is in two places")
    }
}
