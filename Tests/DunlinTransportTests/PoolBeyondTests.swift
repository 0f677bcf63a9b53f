import DunlinTypes
import Testing

@testable import DunlinTransport

/// Connections beyond the caps, for requests that those may wait for which hold the others.
@Suite struct `Connections beyond the caps` {
    private static let other = HTTP.Origin(scheme: .http, host: "b")

    @Test func `one is opened where a request that may not wait would have to`() {
        let pool = PoolDriver(cap: 1)
        #expect(
            [pool.lease(standing: .exceeds), pool.lease(), pool.lease(standing: .exceeds)] == [
                .open, .wait(1), .openBeyond,
            ])
        #expect(pool.machine.gauges.open == 2)
        #expect(pool.goneBeyond() == nil)
        #expect(pool.machine.gauges.open == 1)
        #expect(pool.gone() == 1)
    }

    @Test func `an idle connection comes first, and room at the cap`() {
        let pool = PoolDriver(cap: 2, total: 2)
        #expect(pool.lease() == .open)
        _ = pool.giveBack(7)
        #expect(pool.lease(standing: .exceeds) == .use(7))
        #expect(pool.lease(Self.other, standing: .exceeds) == .open)
        _ = pool.giveBack(8, to: Self.other)
        #expect(pool.lease(standing: .exceeds) == .openClosing(8))
        #expect(pool.lease(Self.other, standing: .exceeds) == .openBeyond)
    }

    @Test(arguments: [(cap: 1, beyond: 32), (31, 32), (33, 33), (128, 128)])
    func `there are as many as one origin may have, but at least 32, for all origins together`(cap: Int, beyond: Int) {
        let pool = PoolDriver(cap: cap, waiters: 0)
        for _ in 0..<cap { #expect(pool.lease() == .open) }
        for _ in 1..<beyond { #expect(pool.lease(standing: .exceeds) == .openBeyond) }
        // Room of another origin's own is no connection beyond the caps.
        for _ in 0..<cap { #expect(pool.lease(Self.other) == .open) }
        #expect(pool.lease(Self.other, standing: .exceeds) == .openBeyond)
        #expect([pool.lease(standing: .exceeds), pool.lease()] == [.turnAway, .turnAway])
        #expect(pool.goneBeyond(Self.other) == nil)
        #expect([pool.lease(standing: .exceeds), pool.lease(standing: .exceeds)] == [.openBeyond, .turnAway])
        for _ in 0..<beyond { #expect(pool.goneBeyond() == nil) }
        for _ in 0..<cap { #expect(pool.gone() == nil && pool.gone(Self.other) == nil) }
        #expect(pool.machine.beyondCount == 0 && pool.machine.gauges.open == 0)
    }

    @Test func `where there are no more, one whose wait has a limit takes what comes first`() {
        let pool = PoolDriver(cap: 1, waiters: 3)
        #expect(pool.lease() == .open)
        for _ in 1...32 { #expect(pool.lease(standing: .exceedsOrWaits) == .openBeyond) }
        #expect(pool.lease() == .wait(33))
        #expect(pool.lease(Self.other, standing: .exceedsOrWaits) == .open)
        #expect(pool.lease(Self.other, standing: .exceedsOrWaits) == .wait(35))
        #expect(pool.lease(standing: .exceedsOrWaits) == .wait(36))
        #expect(pool.lease(standing: .exceedsOrWaits) == .turnAway)
        // In order of arrival, whatever the origin; nobody else gets one.
        #expect(pool.goneBeyond() == 35 && pool.machine.beyondCount == 32)
        #expect(pool.gone() == 33 && pool.gone() == 36)
        #expect(pool.goneBeyond() == nil && pool.machine.beyondCount == 31)
        #expect(pool.counts == [2, 0, 0])
    }

    @Test func `one that gives up takes no right with it`() {
        let pool = PoolDriver(cap: 1)
        #expect(pool.lease() == .open)
        for _ in 1...32 { _ = pool.lease(standing: .exceedsOrWaits) }
        #expect(
            [pool.lease(standing: .exceedsOrWaits), pool.lease(standing: .exceedsOrWaits)] == [.wait(33), .wait(34)])
        pool.leave(33)
        #expect(pool.goneBeyond() == 34)
    }

    @Test func `it waits for no connection that is inspected`() {
        let pool = PoolDriver(cap: 1)
        _ = pool.lease()
        _ = pool.giveBack(7)
        #expect(pool.takeIdle(7) == 7)
        #expect(pool.lease(standing: .exceeds) == .openBeyond)
        #expect(pool.lease() == .wait(2))
        #expect(pool.giveBack(Member(id: 7), wasLookedAt: true) == .handOver(2))
    }
}
