import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Counting in the pool machine` {
    private static let other = HTTP.Origin(scheme: .http, host: "b")

    /// One step, to origin "a" with a cap of two.
    enum Step: Sendable {
        case lease, leaseAlone, giveBack(UInt64), gone, leave(UInt64)
        case enter(OpeningPhase, after: OpeningPhase?)
        case end(OpeningPhase, OpeningEnd)
        case close
    }

    /// What is counted, in the order of the fields.
    private static func numbers(_ gauges: HTTP.ConnectionGauges?) -> [Int] {
        guard let gauges else { return [] }
        return [
            gauges.open, gauges.idle, gauges.waiting, gauges.opened, gauges.reuses, gauges.failed, gauges.inResolve,
            gauges.inConnect, gauges.inTLS,
        ]
    }

    private static func gauges(_ pool: PoolDriver, of origin: HTTP.Origin) -> HTTP.ConnectionGauges? {
        pool.machine.counts.origins.first { $0.origin == origin }?.gauges
    }

    private static let opened: [Step] = [.lease, .enter(.connect, after: nil), .end(.connect, .opened)]

    private static let table: [([Step], [Int])] = [
        // A right to open counts as open before anything is done with it.
        ([.lease], [1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ([.lease, .enter(.connect, after: nil)], [1, 0, 0, 0, 0, 0, 0, 1, 0]),
        ([.lease, .enter(.connect, after: nil), .enter(.resolve, after: .connect)], [1, 0, 0, 0, 0, 0, 1, 0, 0]),
        ([.lease, .enter(.connect, after: nil), .enter(.tls, after: .connect)], [1, 0, 0, 0, 0, 0, 0, 0, 1]),
        (opened, [1, 0, 0, 1, 0, 0, 0, 0, 0]),
        (opened + [.giveBack(1)], [1, 1, 0, 1, 0, 0, 0, 0, 0]),
        (opened + [.giveBack(1), .lease], [1, 0, 0, 1, 1, 0, 0, 0, 0]),
        (opened + [.giveBack(1), .leaseAlone], [2, 1, 0, 1, 0, 0, 0, 0, 0]),
        (opened + opened + [.lease, .lease], [2, 0, 2, 2, 0, 0, 0, 0, 0]),
        (opened + opened + [.lease, .lease, .leave(2)], [2, 0, 1, 2, 0, 0, 0, 0, 0]),
        // Handed over to one that waits.
        (opened + opened + [.lease, .giveBack(1)], [2, 0, 0, 2, 1, 0, 0, 0, 0]),
        // Closed for one that waits and may not reuse it.
        (opened + opened + [.leaseAlone, .giveBack(1)], [2, 0, 0, 2, 0, 0, 0, 0, 0]),
        // The waiter gets the right of one that is gone, and that is no reuse.
        (opened + opened + [.lease, .gone], [2, 0, 0, 2, 0, 0, 0, 0, 0]),
        // Beside a second connection, and with none: the totals of an origin outlive its connections.
        (
            opened + [.lease, .enter(.connect, after: nil), .end(.connect, .failed), .gone],
            [1, 0, 0, 1, 0, 1, 0, 0, 0]
        ),
        ([.lease, .enter(.resolve, after: nil), .end(.resolve, .failed), .gone], [0, 0, 0, 0, 0, 1, 0, 0, 0]),
        (opened + [.gone], [0, 0, 0, 1, 0, 0, 0, 0, 0]),
        (opened + [.gone] + opened, [1, 0, 0, 2, 0, 0, 0, 0, 0]),
        // A cancelled opening says nothing about the origin, and nothing is left of it.
        (opened + [.lease, .enter(.tls, after: nil), .end(.tls, .cancelled), .gone], [1, 0, 0, 1, 0, 0, 0, 0, 0]),
        ([.lease, .enter(.tls, after: nil), .end(.tls, .cancelled), .gone], []),
        // A closed pool has no connections; what was counted stays, and what is still being opened is counted.
        (opened + [.giveBack(1), .lease, .lease, .close], [0, 0, 0, 1, 1, 0, 0, 0, 0]),
        (
            opened + [.lease, .enter(.connect, after: nil), .close, .enter(.tls, after: .connect)],
            [0, 0, 0, 1, 0, 0, 0, 0, 0]
        ),
        ([.lease, .enter(.connect, after: nil), .close, .end(.connect, .opened)], [0, 0, 0, 1, 0, 0, 0, 0, 0]),
        ([.lease, .enter(.connect, after: nil), .close, .end(.connect, .failed)], [0, 0, 0, 0, 0, 1, 0, 0, 0]),
    ]

    @Test(arguments: table) func `each step counts what it does, and nothing else`(steps: [Step], expected: [Int]) {
        let pool = PoolDriver(cap: 2)
        for step in steps { Self.take(step, pool) }
        #expect(Self.numbers(Self.gauges(pool, of: PoolDriver.first)) == expected)
        // Nothing was done with others.
        #expect(pool.machine.counts.origins.count == (expected.isEmpty ? 0 : 1))
        #expect(Self.numbers(pool.machine.gauges) == (expected.isEmpty ? Array(repeating: 0, count: 9) : expected))
    }

    private static func take(_ step: Step, _ pool: PoolDriver) {
        switch step {
        case .lease: _ = pool.lease()
        case .leaseAlone: _ = pool.lease(mayReuse: false)
        case .giveBack(let id): _ = pool.giveBack(id)
        case .gone: _ = pool.gone()
        case .leave(let number): pool.leave(number)
        case .enter(let phase, let previous): pool.enter(phase, after: previous)
        case .end(let phase, let end): pool.endOpening(in: phase, end)
        case .close: _ = pool.close()
        }
    }

    @Test func `a connection that makes room for another origin's keeps its totals`() {
        let pool = PoolDriver(cap: 2, total: 1)
        Self.opened.forEach { Self.take($0, pool) }
        _ = pool.giveBack(1)
        #expect(pool.lease(Self.other) == .openClosing(1))
        #expect(Self.numbers(Self.gauges(pool, of: PoolDriver.first)) == [0, 0, 0, 1, 0, 0, 0, 0, 0])
        #expect(Self.numbers(Self.gauges(pool, of: Self.other)) == [1, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(Self.numbers(pool.machine.gauges) == [1, 0, 0, 1, 0, 0, 0, 0, 0])
    }

    @Test func `the totals of very many origins are kept, the earliest of them in one sum`() {
        let pool = PoolDriver(cap: 1)
        let origins = (0..<1000).map { HTTP.Origin(scheme: .http, host: "h\($0)") }
        for (index, origin) in origins.enumerated() {
            #expect(pool.lease(origin) == .open)
            pool.enter(.connect, after: nil, origin)
            pool.endOpening(origin, in: .connect, index.isMultiple(of: 2) ? .failed : .opened)
            #expect(pool.gone(origin) == nil)
            let counts = pool.machine.counts
            #expect(counts.origins.count <= PoolTotals.capacity)
            #expect(counts.others.opened + counts.others.failed + counts.origins.count == index + 1)
            #expect(Self.numbers(pool.machine.gauges) == [0, 0, 0, (index + 1) / 2, 0, index / 2 + 1, 0, 0, 0])
        }
        let kept = Set(pool.machine.counts.origins.map(\.origin))
        #expect(kept.isSuperset(of: origins.suffix(PoolTotals.capacity / 2)))
        #expect(kept == Set(origins.suffix(kept.count)))
        // One that is still used is never counted among the others.
        #expect(pool.lease(origins[0]) == .open)
        #expect(Self.numbers(Self.gauges(pool, of: origins[0])) == [1, 0, 0, 0, 0, 0, 0, 0, 0])
    }
}
