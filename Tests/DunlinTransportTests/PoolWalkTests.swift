import DunlinTypes
import Testing

@testable import DunlinTransport

/// What the pool must look like from outside, kept by hand while a machine is driven at random.
private struct PoolModel {
    let cap: Int
    let origins: [Origin]
    /// Connections lent out, rights to open included: a right becomes a connection at once.
    var lent: [[UInt64]]
    /// Oldest first, with the time each came back.
    var idle: [[(id: UInt64, since: Int64)]]
    var line: [[UInt64]]
    var lastID: UInt64 = 0
    var now: Int64 = 0

    init(cap: Int, origins: Int) {
        self.cap = cap
        self.origins = (0..<origins).map { Origin(scheme: .http, host: "h\($0)") }
        lent = Array(repeating: [], count: origins)
        idle = Array(repeating: [], count: origins)
        line = Array(repeating: [], count: origins)
    }

    mutating func open(at place: Int) {
        lastID += 1
        lent[place].append(lastID)
    }

    mutating func lease(at place: Int, from pool: PoolDriver) {
        switch pool.lease(origins[place]) {
        case .use(let id):
            #expect(idle[place].last?.id == id)
            idle[place].removeLast()
            lent[place].append(id)
        case .open:
            #expect(idle[place].isEmpty && lent[place].count < cap)
            open(at: place)
        case .wait(let number):
            #expect(idle[place].isEmpty && lent[place].count == cap)
            line[place].append(number)
        case let other: Issue.record("a lease answered \(other)")
        }
    }

    mutating func giveBack(_ id: UInt64, at place: Int, to pool: PoolDriver) {
        switch pool.giveBack(id, to: origins[place], at: now) {
        case .handOver(let waiter):
            #expect(waiter == line[place].first)
            line[place].removeFirst()
            lent[place].append(id)
        case .keep:
            #expect(line[place].isEmpty)
            idle[place].append((id, now))
        case let other: Issue.record("a connection given back was answered \(other)")
        }
    }

    mutating func gone(at place: Int, from pool: PoolDriver) {
        let waiter = pool.gone(origins[place])
        #expect(waiter == line[place].first)
        guard waiter != nil else { return }
        line[place].removeFirst()
        open(at: place)
    }

    mutating func leave(_ number: UInt64, at place: Int, from pool: PoolDriver) {
        pool.leave(number, origins[place])
        line[place].removeAll { $0 == number }
    }

    mutating func expire(in pool: PoolDriver, idleTime: Int64) {
        let swept = pool.expire(at: now)
        let due = idle.joined().filter { $0.since + idleTime <= now }.map(\.id)
        #expect(Set(swept.expired) == Set(due) && swept.expired.count == due.count)
        for place in idle.indices { idle[place].removeAll { $0.since + idleTime <= now } }
        #expect(swept.next == idle.joined().map { $0.since + idleTime }.min() ?? .max)
    }

    func check(_ pool: PoolDriver) {
        let (lentCount, idleCount) = (lent.joined().count, idle.joined().count)
        #expect(pool.counts == [lentCount + idleCount, idleCount, line.joined().count])
        for place in origins.indices {
            #expect(lent[place].count + idle[place].count <= cap)
            #expect(line[place].isEmpty || lent[place].count == cap, "somebody waits while there is room")
        }
        let all = lent.joined() + idle.joined().map(\.id)
        #expect(Set(all).count == all.count, "a connection is in two places")
    }
}

@Suite struct `Pool machine at random` {
    @Test(arguments: [(1, 1, 21), (3, 4, 22), (2, 9, 23), (5, 2, 24)] as [(Int, Int, UInt64)])
    func `keeps its rules over thousands of steps`(cap: Int, origins: Int, seed: UInt64) {
        var random = Seeded(state: seed)
        var model = PoolModel(cap: cap, origins: origins)
        let pool = PoolDriver(cap: cap, idleTime: 50)
        for _ in 0..<5000 {
            model.now += Int64.random(in: 0..<8, using: &random)
            step(&model, pool, Int.random(in: 0..<origins, using: &random), &random)
            model.check(pool)
        }
        let idle = model.idle.joined().map(\.id)
        let closed = pool.close()
        #expect(closed.map(Set.init) == [Set(idle), Set(model.line.joined())])
        #expect(pool.lease(model.origins[0]) == .refuse)
    }

    private func step(_ model: inout PoolModel, _ pool: PoolDriver, _ place: Int, _ random: inout Seeded) {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<8:
            model.lease(at: place, from: pool)
        case 8..<13:
            guard let id = model.lent[place].randomElement(using: &random) else { return }
            model.lent[place].removeAll { $0 == id }
            model.giveBack(id, at: place, to: pool)
        case 13..<15:
            guard !model.lent[place].isEmpty else { return }
            model.lent[place].removeFirst()
            model.gone(at: place, from: pool)
        case 15..<17:
            guard let number = model.line[place].randomElement(using: &random) else { return }
            model.leave(number, at: place, from: pool)
        case 17:
            // The server ended an idle connection: it is taken out and reported gone.
            guard let id = model.idle[place].randomElement(using: &random)?.id else { return }
            #expect(pool.takeIdle(id) == id)
            model.idle[place].removeAll { $0.id == id }
            model.gone(at: place, from: pool)
        default:
            model.expire(in: pool, idleTime: 50)
        }
    }
}
