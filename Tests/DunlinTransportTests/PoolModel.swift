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
    var line: [[Turn]]
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
        line = Array(repeating: [], count: shape.origins)
    }

    private func open(_ place: Int) -> Int { lent[place].count + idle[place].count + lookedAt[place].count }
    private var openCount: Int { origins.indices.reduce(0) { $0 + open($1) } }
    private func first(_ place: Int) -> Turn? { line[place].min() }

    /// Every third connection is to a server that keeps it for a shorter time.
    private func idleLimit(of id: UInt64) -> Int64 { id.isMultiple(of: 3) ? 20 : .max }

    private mutating func lend(_ id: UInt64, at place: Int) {
        lent[place].append(id)
        useCounts[id, default: 0] += 1
    }

    private mutating func open(at place: Int) {
        lastID += 1
        // Every fourth is in clear text, and never outdated.
        tlsGenerations[lastID] = lastID.isMultiple(of: 4) ? .max : tlsGeneration
        lend(lastID, at: place)
    }

    /// Whether there is no room for more to `place`, and nothing that would make it.
    private func isHeldBack(_ place: Int) -> Bool {
        idle[place].isEmpty && (open(place) == shape.cap || (openCount == shape.total && idle.joined().isEmpty))
    }

    private func reusing(_ place: Int) -> [Turn] { line[place].filter { !opening.contains($0.number) } }

    /// Whether one more may wait for what is looked at.
    private func mayAwaitOne(_ place: Int) -> Bool {
        idle[place].isEmpty && reusing(place).count < lookedAt[place].count
    }

    /// Whose turn it is to `place`; nobody's if all wait for what is looked at.
    private func claim(_ place: Int) -> Turn? {
        line[place].count > min(reusing(place).count, lookedAt[place].count) ? first(place) : nil
    }
}

// MARK: - Steps

extension PoolModel {
    mutating func lease(
        at place: Int, _ priority: HTTP.Priority, mayReuse: Bool = true, from pool: PoolDriver
    ) {
        let isFree = idle[place].isEmpty || !mayReuse
        switch pool.lease(origins[place], at: now, priority, mayReuse: mayReuse) {
        case .use(let id):
            let taken = idle[place].removeLast()
            #expect(taken.id == id && taken.until > now && mayReuse)
            reuses[place] += 1
            lend(id, at: place)
        case .retire(let id):
            let taken = idle[place].removeLast()
            #expect(taken.id == id && taken.until <= now && mayReuse)
            lent[place].append(id)
            gone(id, at: place, from: pool)
        case .open:
            #expect(isFree && open(place) < shape.cap && openCount < shape.total)
            #expect(!mayReuse || !mayAwaitOne(place) || line.joined().count == shape.waiters)
            open(at: place)
        case .openClosing(let id):
            if open(place) == shape.cap {
                #expect(!mayReuse && idle[place].first?.id == id)
            } else {
                let oldest = idle.joined().map(\.since).min()
                #expect(isFree && openCount == shape.total)
                #expect(idle.contains { $0.first?.id == id && $0.first?.since == oldest })
            }
            for other in idle.indices { idle[other].removeAll { $0.id == id } }
            open(at: place)
        case .wait(let number):
            #expect(isHeldBack(place) || (mayReuse && mayAwaitOne(place)))
            #expect(line.joined().count < shape.waiters)
            line[place].append(Turn(priority: priority, number: number))
            if !mayReuse { opening.insert(number) }
        case .turnAway:
            #expect(isHeldBack(place) && line.joined().count == shape.waiters)
        case let other: Issue.record("a lease answered \(other)")
        }
    }

    mutating func giveBack(_ id: UInt64, at place: Int, to pool: PoolDriver, wasLookedAt: Bool = false) {
        let isFull = openCount == shape.total
        lent[place].removeAll { $0 == id }
        lookedAt[place].removeAll { $0 == id }
        let uses = useCounts[id, default: 0]
        let itsEdition = tlsGenerations[id, default: 0]
        let member = Member(id: id, uses: uses, idleLimit: idleLimit(of: id), tlsGeneration: itsEdition)
        switch pool.giveBack(member, to: origins[place], at: now, wasLookedAt: wasLookedAt) {
        case .close:
            #expect(uses >= Self.uses || itsEdition < tlsGeneration)
            lent[place].append(id)
            gone(id, at: place, from: pool)
        case .handOver(let waiter):
            #expect(first(place)?.number == waiter && itsEdition >= tlsGeneration)
            #expect(!opening.contains(waiter), "a connection for who may not reuse one")
            #expect(!isFull || rival(of: place) == nil)
            line[place].removeAll { $0.number == waiter }
            reuses[place] += 1
            lend(id, at: place)
        case .replace(let waiter, let host):
            let rival = isFull ? rival(of: place) : nil
            let target = rival ?? place
            #expect(origins[target].host == host && first(target)?.number == waiter)
            #expect(rival != nil || opening.contains(waiter))
            line[target].removeAll { $0.number == waiter }
            open(at: target)
        case .keep:
            #expect(itsEdition >= tlsGeneration)
            #expect(line[place].isEmpty && (!isFull || rival(of: place) == nil))
            idle[place].append(Idle(id: id, since: now, until: now + min(Self.idleTime, idleLimit(of: id))))
        case let other: Issue.record("a connection given back was answered \(other)")
        }
    }

    /// Who else has the better claim to a connection just taken out of `lent[place]`.
    private func rival(of place: Int) -> Int? {
        let ownCount = open(place) + 1
        let rivals = origins.indices.filter { other in
            guard other != place, open(other) < shape.cap, let turn = claim(other) else { return false }
            guard let own = first(place) else { return true }
            return turn < own && (open(other) == 0 || open(other) + 2 <= ownCount)
        }
        return rivals.compactMap { other in first(other).map { (other, $0) } }.min { $0.1 < $1.1 }?.0
    }

    mutating func gone(_ id: UInt64, at place: Int, from pool: PoolDriver, wasLookedAt: Bool = false) {
        lent[place].removeAll { $0 == id }
        lookedAt[place].removeAll { $0 == id }
        let eligible = origins.indices.filter { open($0) < shape.cap }
        let next = eligible.compactMap { place in claim(place).map { (place, $0) } }.min { $0.1 < $1.1 }
        #expect(pool.gone(origins[place], wasLookedAt: wasLookedAt) == next?.1.number)
        guard let (place, turn) = next else { return }
        line[place].removeAll { $0 == turn }
        open(at: place)
    }

    mutating func reserve(at place: Int, from pool: PoolDriver) {
        let isGranted = pool.reserve(origins[place], upTo: 2)
        #expect(isGranted == (open(place) < min(2, shape.cap) && openCount < shape.total))
        if isGranted { open(at: place) }
    }

    mutating func leave(_ number: UInt64, at place: Int, from pool: PoolDriver) {
        pool.leave(number, origins[place])
        line[place].removeAll { $0.number == number }
    }

    mutating func move(_ number: UInt64, at place: Int, to priority: HTTP.Priority, in pool: PoolDriver) {
        pool.move(number, origins[place], to: priority)
        guard let index = line[place].firstIndex(where: { $0.number == number }) else { return }
        line[place][index] = Turn(priority: priority, number: number)
    }

    /// Something came on an idle connection: it is taken out, and comes back or is reported gone later.
    mutating func lookAt(_ id: UInt64, at place: Int, _ pool: PoolDriver) {
        #expect(pool.takeIdle(id) == id)
        idle[place].removeAll { $0.id == id }
        lookedAt[place].append(id)
    }

    mutating func expire(in pool: PoolDriver) {
        let swept = pool.expire(at: now)
        let due = idle.joined().filter { $0.until <= now }.map(\.id)
        #expect(Set(swept.expired) == Set(due) && swept.expired.count == due.count)
        for place in idle.indices { idle[place].removeAll { $0.until <= now } }
        #expect(swept.next == idle.joined().map(\.until).min() ?? .max)
    }

    mutating func retire(in pool: PoolDriver) {
        tlsGeneration += 1
        let outdated = idle.joined().map(\.id).filter { tlsGenerations[$0, default: 0] < tlsGeneration }
        #expect(Set(pool.retire(before: tlsGeneration)) == Set(outdated))
        for place in idle.indices { idle[place].removeAll { outdated.contains($0.id) } }
    }

    func check(_ pool: PoolDriver) {
        let (lentCount, idleCount) = (lent.joined().count + lookedAt.joined().count, idle.joined().count)
        #expect(pool.counts == [lentCount + idleCount, idleCount, line.joined().count])
        #expect(openCount <= shape.total)
        for place in origins.indices {
            #expect(open(place) <= shape.cap)
            #expect(pool.machine.openCount(to: origins[place]) == open(place))
            let gauges = pool.machine.counts.origins.first { $0.origin == origins[place] }?.gauges
            let expected = [open(place), idle[place].count, line[place].count, reuses[place]]
            #expect([gauges?.open ?? 0, gauges?.idle ?? 0, gauges?.waiting ?? 0, gauges?.reuses ?? 0] == expected)
            #expect(claim(place) == nil || isHeldBack(place), "somebody waits while there is room")
            #expect(line[place].isEmpty || idle[place].isEmpty, "somebody waits beside an idle connection")
        }
        let all = Array((lent + lookedAt).joined()) + idle.joined().map(\.id)
        #expect(Set(all).count == all.count, "a connection is in two places")
    }
}
