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

    @Test func `those of one level cannot keep those of another from theirs`() {
        let pool = PoolDriver(cap: 1)
        for _ in 0..<5 { _ = pool.lease() }
        #expect([pool.exceed(1, at: 1), pool.exceed(2, at: 1), pool.exceed(3, at: 9)] == [true, false, true])
        #expect(pool.extraGone(at: 9) == nil)
        #expect(pool.extraGone(at: 1) == 2)
        #expect(pool.machine.gauges.open == 2)
    }

    @Test func `one that may not wait may have one too`() {
        let pool = PoolDriver(cap: 1, waiters: 0)
        #expect([pool.lease(), pool.lease()] == [.open, .turnAway])
        #expect([pool.takeExtra(), pool.takeExtra()] == [true, false])
        #expect(pool.machine.gauges.open == 2)
        #expect(pool.extraGone() == nil)
        #expect(pool.takeExtra())
    }

    @Test func `one that waits for a connection that is inspected opens none`() {
        let pool = PoolDriver(cap: 2)
        _ = pool.lease()
        _ = pool.giveBack(7)
        #expect(pool.takeIdle(7) == 7)
        #expect(pool.lease() == .wait(1))
        #expect(!pool.exceed(1))
        #expect(pool.giveBack(Member(id: 7), wasLookedAt: true) == .handOver(1))
    }

    /// One that gave up is in the queue until it has noticed.
    @Test func `a right is not lost to one whose origin is forgotten`() {
        let pool = PoolDriver(cap: 1)
        #expect(
            [pool.lease(), pool.lease(), pool.lease(Self.other), pool.lease(Self.other)] == [
                .open, .wait(1), .open, .wait(3),
            ])
        #expect([pool.exceed(1), pool.exceed(3, Self.other)] == [true, false])
        pool.leave(1)
        pool.leave(3, Self.other)
        #expect(pool.gone(Self.other) == nil)
        #expect(pool.extraGone() == nil)
        #expect(pool.takeExtra())
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
        #expect(!pool.exceed(4) && !pool.takeExtra())
    }
}
