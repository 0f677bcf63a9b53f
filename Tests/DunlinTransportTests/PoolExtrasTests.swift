import DunlinTypes
import Testing

@testable import DunlinTransport

/// Connections beyond the caps, for requests that those wait for which hold the others.
@Suite struct `Connections beyond the caps` {
    private static let other = HTTP.Origin(scheme: .http, host: "b")

    @Test func `one is opened where a request within others would have to wait`() {
        let pool = PoolDriver(cap: 1)
        #expect([pool.lease(), pool.lease(), pool.lease()] == [.open, .wait(1), .wait(2)])
        #expect([pool.exceed(1), pool.exceed(2)] == [true, false])
        pool.leave(1)
        #expect(pool.counts == [1, 0, 1])
        #expect(pool.machine.gauges.open == 2)
        #expect([pool.extraGone(), pool.extraGone()] == [2, nil])
        #expect(pool.machine.gauges.open == 1)
    }

    @Test(arguments: [(cap: 1, extra: 1), (7, 1), (8, 1), (16, 2), (128, 16)])
    func `there is an eighth of the cap, but at least one`(cap: Int, extra: Int) {
        let pool = PoolDriver(cap: cap)
        for _ in 0..<cap { #expect(pool.lease() == .open) }
        let waiters = (0...UInt64(extra)).map { UInt64(cap) + $0 }
        for waiter in waiters { #expect(pool.lease() == .wait(waiter)) }
        #expect(waiters.map { pool.exceed($0) } == Array(repeating: true, count: extra) + [false])
    }

    @Test func `those of one depth cannot keep the next from theirs, and very deep ones share`() {
        let pool = PoolDriver(cap: 1)
        _ = pool.lease()
        for _ in 0..<12 { _ = pool.lease() }
        let isGiven = (1...12).map { pool.exceed($0, at: Int($0)) }
        #expect(isGiven == (1...12).map { $0 <= 8 })
        #expect(pool.extraGone(at: 8) == 9)
        #expect(pool.machine.gauges.open == 9)
    }

    @Test func `one that was served by the queue asks for no more`() {
        let pool = PoolDriver(cap: 1)
        _ = (0..<4).map { _ in pool.lease() }
        #expect([pool.exceed(1), pool.exceed(2), pool.exceed(3)] == [true, false, false])
        pool.leave(1)
        #expect(pool.giveBack(7) == .handOver(2))
        pool.leaveExtras(2)
        #expect(pool.extraGone() == 3)
    }

    @Test func `one at the total cap is for its own origin, which is kept as long as it has one`() {
        let pool = PoolDriver(cap: 9, total: 1)
        #expect([pool.lease(), pool.lease(Self.other)] == [.open, .wait(1)])
        #expect(pool.exceed(1, Self.other))
        pool.leave(1, Self.other)
        #expect(pool.machine.openCount(to: Self.other) == 0)
        #expect(pool.machine.counts.origins.first { $0.origin == Self.other }?.gauges.open == 1)
        #expect(pool.extraGone(Self.other) == nil)
        #expect(!pool.machine.counts.origins.contains { $0.origin == Self.other })
    }

    @Test func `a waiter that is gone with its origin gets none, and neither does one of a closed pool`() {
        let pool = PoolDriver(cap: 1)
        _ = [pool.lease(), pool.lease()]
        pool.leave(1)
        _ = pool.gone()
        #expect(!pool.exceed(1))
        _ = [pool.lease(), pool.lease(), pool.lease()]
        #expect([pool.exceed(3), pool.exceed(4)] == [true, false])
        _ = pool.close()
        #expect(pool.extraGone() == nil)
        #expect(!pool.exceed(4))
    }
}
