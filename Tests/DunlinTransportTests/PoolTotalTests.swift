import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Pool machine under a total` {
    private static let (a, b, c) = (PoolDriver.first, origin("b"), origin("c"))

    private static func origin(_ host: String) -> HTTP.Origin { HTTP.Origin(scheme: .http, host: host) }

    @Test func `the connection that has been idle longest is closed to make room, whosesoever it is`() {
        let pool = PoolDriver(cap: 9, total: 3)
        #expect([pool.lease(Self.a), pool.lease(Self.b), pool.lease(Self.a)] == [.open, .open, .open])
        _ = pool.giveBack(1, to: Self.a, at: 5)
        _ = pool.giveBack(2, to: Self.b, at: 4)
        _ = pool.giveBack(3, to: Self.a, at: 6)
        #expect([pool.lease(Self.c), pool.lease(Self.c)] == [.openClosing(2), .openClosing(1)])
        #expect(pool.counts == [3, 1, 0])
        #expect([pool.lease(Self.a), pool.lease(Self.a)] == [.use(3), .wait(6)])
    }

    @Test func `an origin at its own cap closes nobody's connection`() {
        let pool = PoolDriver(cap: 1, total: 2)
        _ = [pool.lease(Self.a), pool.lease(Self.b)]
        _ = pool.giveBack(1, to: Self.a)
        #expect(pool.lease(Self.b) == .wait(2))
        #expect(pool.counts == [2, 1, 1])
    }

    @Test func `a connection nobody waits for makes room for those that the total makes wait`() {
        let pool = PoolDriver(cap: 9, total: 1)
        #expect([pool.lease(Self.a), pool.lease(Self.b), pool.lease(Self.c)] == [.open, .wait(1), .wait(2)])
        #expect(pool.giveBack(7, to: Self.a) == .replace(1, "b"))
        #expect(pool.gone(Self.b) == 2)
        #expect(pool.giveBack(8, to: Self.c) == .keep(sweepAt: 100))
        #expect(pool.counts == [1, 1, 0])
    }

    @Test func `a connection that is gone serves the first of all queues, but none that is at its own cap`() {
        let pool = PoolDriver(cap: 1, total: 2)
        _ = [pool.lease(Self.a), pool.lease(Self.b)]
        #expect([pool.lease(Self.a), pool.lease(Self.c), pool.lease(Self.b)] == [.wait(2), .wait(3), .wait(4)])
        #expect(pool.gone(Self.b) == 3)
        #expect(pool.gone(Self.a) == 2)
        #expect(pool.gone(Self.c) == 4)
    }

    /// What origin a, with `open` connections and the later (or earlier) waiter, does with one that comes back while b
    /// has so many and waits.
    @Test(arguments: [
        (1, 0, true, PoolDriver.Said.replace(100, "b")),
        (1, 0, false, .handOver(100)),
        (2, 1, true, .handOver(101)),
        (3, 1, true, .replace(100, "b")),
        (3, 1, false, .handOver(100)),
    ])
    func `a queue keeps its connections unless a worse off origin comes first`(
        ours: Int, theirs: Int, theyCameFirst: Bool, expected: PoolDriver.Said
    ) {
        let pool = PoolDriver(cap: 9, total: ours + theirs)
        for _ in 0..<ours { #expect(pool.lease(Self.a) == .open) }
        for _ in 0..<theirs { #expect(pool.lease(Self.b) == .open) }
        // Numbers the waiters from 100.
        for _ in (ours + theirs)..<100 {
            guard case .wait(let number) = pool.lease(Self.a) else { return }
            pool.leave(number, Self.a)
        }
        _ = theyCameFirst ? [pool.lease(Self.b), pool.lease(Self.a)] : [pool.lease(Self.a), pool.lease(Self.b)]
        #expect(pool.giveBack(1, to: Self.a) == expected)
    }

    @Test func `a request too many for the queue is refused`() {
        let pool = PoolDriver(cap: 1, total: 1, waiters: 2)
        #expect([pool.lease(Self.a), pool.lease(Self.a), pool.lease(Self.b)] == [.open, .wait(1), .wait(2)])
        #expect([pool.lease(Self.a), pool.lease(Self.c)] == [.turnAway, .turnAway])
        pool.leave(1, Self.a)
        #expect(pool.lease(Self.c) == .wait(5))
    }

    @Test func `the pool reserves up to a count, the cap and the total, and closes nothing`() {
        let pool = PoolDriver(cap: 3, total: 4)
        #expect((0..<3).map { _ in pool.reserve(upTo: 2) } == [true, true, false])
        #expect((0..<3).map { _ in pool.reserve(upTo: 9) } == [true, false, false])
        _ = pool.giveBack(1)
        #expect([pool.reserve(Self.b, upTo: 9), pool.reserve(Self.b, upTo: 9)] == [true, false])
        #expect(pool.counts == [4, 1, 0])
        _ = pool.close()
        #expect(!pool.reserve(upTo: 9))
    }
}

@Suite struct `Pool machine's terms` {
    @Test func `the pool serves by priority, then in order of arrival`() {
        let pool = PoolDriver(cap: 1)
        let priorities: [HTTP.Priority] = [.normal, .normal, .low, .high, .normal, 7, .high, .low]
        for priority in priorities { _ = pool.lease(at: 0, priority) }
        let served = (1..<priorities.count).map { _ in pool.giveBack(9) }
        #expect(served == [3, 6, 5, 1, 4, 2, 7].map { .handOver($0) })
        #expect(pool.giveBack(9) == .keep(sweepAt: 100))
    }

    @Test func `a higher priority goes first over all origins`() {
        let (a, b, c) = (PoolDriver.first, HTTP.Origin(scheme: .http, host: "b"), HTTP.Origin(scheme: .http, host: "c"))
        let pool = PoolDriver(cap: 9, total: 1)
        _ = [pool.lease(a), pool.lease(b, .normal), pool.lease(c, .high)]
        #expect(pool.giveBack(1, to: a) == .replace(2, "c"))
    }

    /// Age and uses of a connection that comes back at 100 under limits of 100 and 5.
    @Test(arguments: [
        (0, 1, PoolDriver.Said.close), (1, 5, .close), (0, 9, .close), (1, 4, .keep(sweepAt: 101)),
        (90, 1, .keep(sweepAt: 120)),
    ])
    func `a connection that is too old or used up is closed when it comes back`(
        opened: Int64, uses: Int, said: PoolDriver.Said
    ) {
        let pool = PoolDriver(cap: 1, idleTime: 20, age: 100, uses: 5)
        _ = pool.lease()
        let member = Member(id: 7, opened: HTTP.Instant(nanoseconds: opened), uses: uses)
        #expect(pool.giveBack(member, at: 100) == said)
        guard said == .close else { return }
        #expect(pool.gone() == nil)
        #expect(pool.counts == [0, 0, 0])
    }

    @Test func `a connection that is used up is not handed over, and who waits opens another`() {
        let pool = PoolDriver(cap: 1, uses: 5)
        _ = [pool.lease(), pool.lease()]
        #expect(pool.giveBack(Member(id: 7, uses: 5)) == .close)
        #expect(pool.gone() == 1)
    }

    /// Idle time 100, age 1000: when an idle connection may last be used.
    @Test(
        arguments: [
            (0, Int64.max, 100), (0, 30, 30), (0, 300, 100), (950, .max, 1000), (990, 5, 995), (0, 1, 1),
        ] as [(Int64, Int64, Int64)])
    func `an idle connection is not lent when its time is up`(since: Int64, idleLimit: Int64, until: Int64) {
        for (now, said) in [(until - 1, PoolDriver.Said.use(7)), (until, .retire(7))] {
            let pool = PoolDriver(cap: 1, age: 1000)
            _ = pool.lease()
            #expect(pool.giveBack(Member(id: 7, idleLimit: idleLimit), at: since) == .keep(sweepAt: until))
            #expect(pool.lease(at: now) == said)
            #expect(pool.counts == [1, 0, 0])
        }
    }

    @Test func `the pool sweeps sooner for a connection that expires sooner`() {
        let pool = PoolDriver(cap: 3)
        for _ in 0..<3 { _ = pool.lease() }
        #expect(pool.giveBack(Member(id: 1)) == .keep(sweepAt: 100))
        #expect(pool.giveBack(Member(id: 2, idleLimit: 10)) == .keep(sweepAt: 10))
        #expect(pool.giveBack(Member(id: 3, idleLimit: 20)) == .keep(sweepAt: nil))
        #expect(pool.expire(at: 10) == .init(expired: [2], next: 20))
        #expect(pool.expire(at: 20) == .init(expired: [3], next: 100))
        #expect(pool.counts == [1, 1, 0])
    }

    @Test func `a connection to a server that keeps none is closed`() {
        let pool = PoolDriver(cap: 1)
        _ = pool.lease()
        #expect(pool.giveBack(Member(id: 1, idleLimit: 0)) == .close)
    }
}
