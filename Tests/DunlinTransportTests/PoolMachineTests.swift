import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinTransport

@Suite struct `Pool machine` {
    private static let other = HTTP.Origin(scheme: .http, host: "b")

    @Test(.rules("9112-9.4-1")) func `the pool opens up to the cap, then lets wait, for each origin alone`() {
        let pool = PoolDriver(cap: 2)
        #expect([pool.lease(), pool.lease(), pool.lease()] == [.open, .open, .wait(2)])
        #expect([pool.lease(Self.other), pool.lease(Self.other), pool.lease(Self.other)] == [.open, .open, .wait(5)])
        #expect(pool.counts == [4, 0, 2])
    }

    @Test func `a connection is handed over in order of arrival, and kept where nobody waits`() {
        let pool = PoolDriver(cap: 1)
        #expect([pool.lease(), pool.lease(), pool.lease(), pool.lease()] == [.open, .wait(1), .wait(2), .wait(3)])
        #expect(pool.giveBack(7) == .handOver(1))
        pool.leave(2)
        #expect(pool.giveBack(7) == .handOver(3))
        #expect(pool.giveBack(7) == .keep(sweepAt: 100))
        #expect(pool.counts == [1, 1, 0])
        #expect(pool.lease() == .use(7))
        #expect(pool.counts == [1, 0, 0])
    }

    @Test func `a waiter of another origin is not served`() {
        let pool = PoolDriver(cap: 1)
        _ = [pool.lease(), pool.lease(Self.other), pool.lease(Self.other)]
        #expect(pool.giveBack(1) == .keep(sweepAt: 100))
        #expect(pool.gone() == nil)
        #expect(pool.giveBack(2, to: Self.other) == .handOver(2))
    }

    @Test func `a connection that is gone lets the first who waits open one`() {
        let pool = PoolDriver(cap: 1)
        _ = [pool.lease(), pool.lease(), pool.lease()]
        #expect([pool.gone(), pool.gone(), pool.gone()] == [1, 2, nil])
        #expect(pool.counts == [0, 0, 0])
        #expect(pool.lease() == .open)
    }

    @Test func `the pool uses the newest idle connection first`() {
        let pool = PoolDriver(cap: 3)
        _ = [pool.lease(), pool.lease(), pool.lease()]
        for id in [5, 6, 7] as [UInt64] { _ = pool.giveBack(id) }
        #expect([pool.lease(), pool.lease(), pool.lease()] == [.use(7), .use(6), .use(5)])
    }

    @Test func `the newest connection on the asker's own loop is preferred, and any is taken before none`() {
        let pool = PoolDriver(cap: 4)
        for _ in 0..<4 { _ = pool.lease() }
        for (id, loop) in [(1, 0), (2, 1), (3, 1), (4, 0)] as [(UInt64, Int)] { _ = pool.giveBack(id, on: loop) }
        #expect([pool.lease(on: 1), pool.lease(on: 1), pool.lease(on: 1)] == [.use(3), .use(2), .use(4)])
        #expect(pool.lease(on: 1) == .use(1))
    }

    @Test func `the pool opens a connection for who may not reuse an idle one`() {
        let pool = PoolDriver(cap: 3)
        _ = [pool.lease(), pool.lease()]
        for id in [5, 6] as [UInt64] { _ = pool.giveBack(id) }
        #expect(pool.lease(mayReuse: false) == .open)
        #expect(pool.lease(mayReuse: false) == .openClosing(5))
        #expect(pool.lease() == .use(6))
        #expect(pool.lease(mayReuse: false) == .wait(5))
        #expect(pool.counts == [3, 0, 1])
        #expect(pool.giveBack(6) == .replace(5, "a"))
        #expect(pool.counts == [3, 0, 0])
    }

    @Test func `a connection that is given back makes room for who waits first and may not reuse it`() {
        let pool = PoolDriver(cap: 1)
        #expect(
            [pool.lease(), pool.lease(mayReuse: false), pool.lease(), pool.lease(mayReuse: false)] == [
                .open, .wait(1), .wait(2), .wait(3),
            ])
        #expect(pool.giveBack(5) == .replace(1, "a"))
        #expect(pool.counts == [1, 0, 2])
        #expect(pool.giveBack(6) == .handOver(2))
        #expect(pool.gone() == 3)
        #expect(pool.giveBack(7) == .keep(sweepAt: 100))
        #expect(pool.counts == [1, 1, 0])
    }

    @Test func `who may not reuse a connection is served by priority, and forgotten when it leaves`() {
        let pool = PoolDriver(cap: 1)
        _ = [pool.lease(), pool.lease(PoolDriver.first, .low, mayReuse: false), pool.lease()]
        _ = [pool.lease(PoolDriver.first, .high, mayReuse: false), pool.lease(mayReuse: false)]
        #expect(pool.giveBack(5) == .replace(3, "a"))
        pool.leave(4)
        pool.leave(4)
        pool.move(1, to: .high)
        #expect(pool.giveBack(6) == .replace(1, "a"))
        #expect([pool.giveBack(7), pool.giveBack(7)] == [.handOver(2), .keep(sweepAt: 100)])
    }

    @Test func `a connection makes room within its own origin first, where that has no more than its share`() {
        let pool = PoolDriver(cap: 9, total: 2)
        _ = [pool.lease(), pool.lease(Self.other)]
        let waiting = [pool.lease(mayReuse: false), pool.lease(Self.other, mayReuse: false), pool.lease(Self.other)]
        #expect(waiting == [.wait(2), .wait(3), .wait(4)])
        // The other origin does not have two fewer, so that each keeps its own.
        #expect(pool.giveBack(5, to: Self.other) == .replace(3, "b"))
        #expect(pool.gone(Self.other) == 2)
        #expect(pool.giveBack(6) == .replace(4, "b"))
        #expect(pool.counts == [2, 0, 0])
    }

    @Test func `the pool lends nothing of an earlier edition`() {
        let pool = PoolDriver(cap: 9)
        for _ in 0..<4 { _ = pool.lease() }
        for (id, tlsGeneration) in [(1, 0), (2, 1), (3, .max)] as [(UInt64, UInt64)] {
            _ = pool.giveBack(Member(id: id, tlsGeneration: tlsGeneration))
        }
        #expect(pool.retire(before: 1) == [1])
        #expect(pool.retire(before: 1) == [])
        #expect(pool.counts == [3, 2, 0])
        #expect(pool.giveBack(Member(id: 4, tlsGeneration: 0)) == .close)
        #expect(pool.gone() == nil)
        #expect([pool.lease(), pool.lease(), pool.lease()] == [.use(3), .use(2), .open])
        #expect(pool.retire(before: 2) == [])
        #expect(
            [2, 3, 5].map { pool.giveBack(Member(id: $0, tlsGeneration: $0)) } == [
                .keep(sweepAt: nil), .keep(sweepAt: nil), .keep(sweepAt: nil),
            ])
        #expect(Set(pool.retire(before: 5)) == [2, 3])
        #expect(pool.retire(before: 4) == [])
    }

    @Test func `the pool lends nothing that goes over an earlier edition of a proxy's TLS`() {
        let pool = PoolDriver(cap: 9)
        for _ in 0..<4 { _ = pool.lease() }
        for (id, generation) in [(1, 0), (2, 1), (3, .max)] as [(UInt64, UInt64)] {
            _ = pool.giveBack(Member(id: id, tlsGeneration: .max, proxyTLSGeneration: generation))
        }
        #expect(pool.retire(proxies: 1) == [1])
        #expect(pool.retire(proxies: 1) == [])
        #expect(pool.giveBack(Member(id: 4, tlsGeneration: .max, proxyTLSGeneration: 0)) == .close)
        #expect(pool.retire(before: 7) == [])
    }

    @Test func `the oldest connections expire first, and the pool says when to sweep again`() {
        let pool = PoolDriver(cap: 3)
        _ = [pool.lease(), pool.lease(), pool.lease()]
        #expect(pool.giveBack(1, at: 10) == .keep(sweepAt: 110))
        #expect(pool.giveBack(2, at: 20) == .keep(sweepAt: nil))
        #expect(pool.giveBack(3, at: 20) == .keep(sweepAt: nil))
        #expect(pool.expire(at: 109) == .init(expired: [], next: 110))
        #expect(pool.expire(at: 110) == .init(expired: [1], next: 120))
        #expect(pool.counts == [2, 2, 0])
        #expect(pool.expire(at: 120) == .init(expired: [2, 3], next: .max))
        #expect(pool.counts == [0, 0, 0])
        _ = pool.lease()
        #expect(pool.giveBack(4, at: 200) == .keep(sweepAt: 300))
    }

    @Test func `idle connections expire over all origins`() {
        let pool = PoolDriver(cap: 1)
        let origins = (0..<5).map { HTTP.Origin(scheme: .http, host: "h\($0)") }
        for (number, origin) in origins.enumerated() {
            #expect(pool.lease(origin) == .open)
            _ = pool.giveBack(UInt64(number), to: origin, at: Int64(number % 2))
        }
        let swept = pool.expire(at: 100)
        #expect(Set(swept.expired) == [0, 2, 4])
        #expect(swept.next == 101)
        #expect(origins.map { pool.lease($0) } == [.open, .use(1), .open, .use(3), .open])
    }

    @Test func `a connection lent out does not expire`() {
        let pool = PoolDriver(cap: 1)
        _ = pool.lease()
        #expect(pool.expire(at: 1_000_000) == .init(expired: [], next: .max))
        #expect(pool.counts == [1, 0, 0])
    }

    @Test func `an idle connection taken out is still counted`() {
        let pool = PoolDriver(cap: 1)
        _ = pool.lease()
        #expect(pool.takeIdle(7) == nil)
        _ = pool.giveBack(7)
        #expect([pool.takeIdle(8), pool.takeIdle(7), pool.takeIdle(7)] == [nil, 7, nil])
        #expect(pool.counts == [1, 0, 0])
        #expect(pool.lease() == .wait(1))
        #expect(pool.gone(wasLookedAt: true) == 1)
    }

    @Test(arguments: [true, false])
    func `one request waits for each connection that is looked at, which is back or gone soon`(isBack: Bool) {
        let pool = PoolDriver(cap: 9, waiters: 2)
        _ = [pool.lease(), pool.lease()]
        for id in [5, 6] as [UInt64] { _ = pool.giveBack(id) }
        #expect([pool.takeIdle(6), pool.takeIdle(5)] == [6, 5])
        #expect(
            [pool.lease(), pool.lease(mayReuse: false), pool.lease(), pool.lease()] == [
                .wait(2), .open, .wait(4), .open,
            ])
        if isBack {
            #expect(pool.giveBack(Member(id: 5), wasLookedAt: true) == .handOver(2))
        } else {
            #expect(pool.gone(wasLookedAt: true) == 2)
        }
        #expect(pool.giveBack(Member(id: 6), wasLookedAt: true) == .handOver(4))
        #expect(pool.giveBack(9) == .keep(sweepAt: nil))
    }

    @Test func `who may not reuse a connection does not wait for one that is looked at`() {
        let pool = PoolDriver(cap: 2)
        _ = [pool.lease(), pool.lease()]
        _ = (pool.giveBack(5), pool.takeIdle(5))
        #expect(pool.lease(mayReuse: false) == .wait(2))
        #expect(pool.gone() == 2)
        #expect(pool.giveBack(Member(id: 5), wasLookedAt: true) == .keep(sweepAt: nil))
        #expect(pool.counts == [2, 1, 0])
    }

    @Test func `a request that may not wait opens another connection than the one that is looked at`() {
        let pool = PoolDriver(cap: 9, waiters: 0)
        _ = (pool.lease(), pool.giveBack(5), pool.takeIdle(5))
        #expect(pool.lease() == .open)
        #expect(pool.giveBack(Member(id: 5), wasLookedAt: true) == .keep(sweepAt: nil))
    }

    @Test func `a connection that comes back goes to who waits for it, whatever else is looked at`() {
        let pool = PoolDriver(cap: 3, total: 4)
        _ = [pool.lease(Self.other), pool.lease(), pool.lease(), pool.lease()]
        _ = [pool.giveBack(1, to: Self.other), pool.giveBack(2)]
        #expect([pool.takeIdle(1), pool.takeIdle(2)] == [1, 2])
        #expect([pool.lease(Self.other), pool.lease()] == [.wait(4), .wait(5)])
        #expect(pool.giveBack(Member(id: 2), wasLookedAt: true) == .handOver(5))
        #expect(pool.gone() == nil)
        #expect(pool.giveBack(Member(id: 1), to: Self.other, wasLookedAt: true) == .handOver(4))
    }

    @Test func `a closed pool gives out what it has and takes nothing more`() {
        let pool = PoolDriver(cap: 2)
        _ = [pool.lease(), pool.lease(), pool.lease(), pool.lease(Self.other)]
        _ = pool.giveBack(9, to: Self.other)
        #expect(pool.close() == [[9], [2]])
        #expect(pool.lease() == .refuse)
        #expect(pool.giveBack(1) == .close)
        #expect(pool.gone() == nil)
        pool.leave(2)
        #expect(pool.close() == [[], []])
        #expect(pool.expire(at: .max) == .init(expired: [], next: .max))
        #expect(pool.counts == [0, 0, 0])
    }

    @Test func `leaving twice, late or from nowhere changes nothing`() {
        let pool = PoolDriver(cap: 1)
        _ = [pool.lease(), pool.lease(), pool.lease()]
        pool.leave(1)
        pool.leave(1)
        pool.leave(7)
        pool.leave(2, Self.other)
        #expect(pool.counts == [1, 0, 1])
        #expect(pool.giveBack(3) == .handOver(2))
        pool.leave(2)
        #expect(pool.counts == [1, 0, 0])
    }
}
