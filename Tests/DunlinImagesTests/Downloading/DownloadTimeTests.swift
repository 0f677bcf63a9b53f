import Dunlin
import DunlinTesting
import Testing

@testable import DunlinImages

/// The numbers are nanoseconds.
@Suite struct `The time of those who wait for a download` {
    typealias Machine = ImageDownloadMachine<String>

    private static func time(_ nanoseconds: Int64) -> HTTP.Instant { HTTP.Instant(nanoseconds: nanoseconds) }

    private static func limit(_ total: Int64?, until inherited: Int64? = nil) -> HTTPSession.WaitLimit {
        HTTPSession.WaitLimit(
            total: total.map { .nanoseconds($0) }, inherited: inherited.map(time) ?? .never,
            length: inherited.map { .nanoseconds($0) })
    }

    /// Downloads `a`, whose first waiter is number 1.
    private static func begun(
        _ limit: HTTPSession.WaitLimit, at now: Int64 = 0, finishesForCache: Bool = false
    ) -> Machine {
        var machine = Machine(maximum: 1, order: .firstInFirstOut, finishesForCache: finishesForCache)
        let (id, actions) = machine.begin(1, "a", 0, limit)
        #expect(id == 1 && actions == [.start(1)])
        machine.turn(of: 1, at: time(now))
        return machine
    }

    /// Has all leave whose time is up, and returns their numbers and what is stopped.
    private static func expire(_ machine: inout Machine, at now: Int64) -> (late: [UInt64], actions: [Machine.Action]) {
        let late = machine.late(at: time(now))
        var actions = late.flatMap { machine.leave($0.waiter).actions }
        actions += machine.stopLate(at: time(now))
        return (late.map(\.waiter), actions)
    }

    @Test func `each waiter has its own time from when it joins, and the download stops when the last has none left`() {
        var machine = Self.begun(Self.limit(5))
        let joined = machine.join(2, "a", 0, Self.limit(5), at: Self.time(3))
        #expect(joined == 1)
        #expect(machine.nextLook == Self.time(5))
        let none = Self.expire(&machine, at: 4)
        #expect(none.late == [] && none.actions == [])
        let first = Self.expire(&machine, at: 5)
        #expect(first.late == [1] && first.actions == [])
        #expect(machine.nextLook == Self.time(8))
        let second = Self.expire(&machine, at: 8)
        #expect(second.late == [2] && second.actions == [.stop(1)])
        _ = machine.end(1)
        #expect(machine.isIdle)
        #expect(machine.nextLook == nil)
    }

    @Test func `a waiter with more time or no limit waits on`() {
        var machine = Self.begun(Self.limit(5))
        for (number, total) in [(2, 9), (3, nil)] as [(UInt64, Int64?)] {
            _ = machine.join(number, "a", 0, Self.limit(total), at: Self.time(0))
        }
        for (now, expected) in [(6, [1]), (100, [2]), (1000, [])] as [(Int64, [UInt64])] {
            let (late, actions) = Self.expire(&machine, at: now)
            #expect(late == expected && actions == [])
        }
        #expect(machine.nextLook == nil)
        let (answered, _) = machine.end(1)
        #expect(answered == [3])
    }

    @Test func `a wait for a turn counts for no total, and for a deadline that is inherited`() {
        var machine = Self.begun(Self.limit(100))
        for (number, limit) in [(2, Self.limit(5)), (3, Self.limit(50, until: 7))] as [(UInt64, HTTPSession.WaitLimit)]
        {
            if machine.join(number, "b", 0, limit, at: Self.time(0)) == nil { _ = machine.begin(number, "b", 0, limit) }
        }
        let (late, actions) = Self.expire(&machine, at: 7)
        #expect(late == [3] && actions == [])
        let (_, started) = machine.end(1)
        #expect(started == [.start(2)])
        machine.turn(of: 2, at: Self.time(10))
        // A second turn begins nothing anew.
        machine.turn(of: 2, at: Self.time(14))
        let early = Self.expire(&machine, at: 14)
        #expect(early.late == [])
        let end = Self.expire(&machine, at: 15)
        #expect(end.late == [2] && end.actions == [.stop(2)])
    }

    @Test func `a download whose waiters run out of time before its turn is never sent`() {
        var machine = Self.begun(Self.limit(nil))
        _ = machine.begin(2, "b", 0, Self.limit(nil, until: 7))
        let (late, actions) = Self.expire(&machine, at: 7)
        #expect(late == [2] && actions == [])
        let (_, more) = machine.end(1)
        #expect(more == [])
        #expect(machine.isIdle)
    }

    @Test func `the nearer of the two limits counts, and the error tells which`() {
        let start = Self.time(10)
        for (limit, end, told) in [
            (Self.limit(5, until: 12), 12, 12), (Self.limit(5, until: 20), 15, 5), (Self.limit(5), 15, 5),
            (Self.limit(nil, until: 12), 12, 12),
        ] as [(HTTPSession.WaitLimit, Int64, Int64)] {
            #expect(limit.end(from: start) == Self.time(end))
            let error = limit.failure(from: start, at: Self.time(end + 1), requestMayHaveBeenSent: true)
            #expect(error.code == .timedOut && error.exceeded == .total && error.limit == .nanoseconds(told))
            #expect(error.elapsed == .nanoseconds(told + 1))
        }
        #expect(Self.limit(nil).end(from: start) == .never)
        #expect(Self.limit(5).end(from: nil) == .never)
    }

    @Test func `an image that has arrived is delivered even if the time of its waiters is up`() {
        var machine = Self.begun(Self.limit(5))
        machine.arrived(1)
        _ = machine.join(2, "a", 0, Self.limit(1), at: Self.time(2))
        let (late, actions) = Self.expire(&machine, at: 100)
        #expect(late == [] && actions == [])
        let (answered, _) = machine.end(1)
        #expect(answered == [1, 2])
    }

    @Test func `a download continued for the cache has the time of its last waiter`() {
        var machine = Self.begun(Self.limit(50), finishesForCache: true)
        _ = machine.join(2, "a", 0, Self.limit(5), at: Self.time(3))
        let (one, two) = (machine.leave(1), machine.leave(2))
        #expect(one.actions == [] && two.actions == [])
        let early = Self.expire(&machine, at: 7)
        #expect(early.actions == [])
        let end = Self.expire(&machine, at: 8)
        #expect(end.late == [] && end.actions == [.stop(1)])
        let again = Self.expire(&machine, at: 100)
        #expect(again.actions == [])
        // Joined again, it has the time of who joins.
        var other = Self.begun(Self.limit(5), finishesForCache: true)
        _ = other.leave(1)
        _ = other.join(2, "a", 0, Self.limit(nil), at: Self.time(3))
        let joined = Self.expire(&other, at: 100)
        #expect(joined.late == [] && joined.actions == [])
    }

    @Test func `a download continued for the cache before its turn has time from then on`() {
        var machine = Machine(maximum: 1, order: .firstInFirstOut, finishesForCache: true)
        _ = machine.begin(1, "a", 0, Self.limit(5))
        _ = machine.leave(1)
        #expect(machine.nextLook == nil)
        machine.turn(of: 1, at: Self.time(100))
        let early = Self.expire(&machine, at: 104)
        #expect(early.actions == [])
        let end = Self.expire(&machine, at: 105)
        #expect(end.actions == [.stop(1)])
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `in any order of events each waiter gets an answer in time or a timeout`(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        var machine = Machine(maximum: 2, order: .firstInFirstOut, finishesForCache: seed % 2 == 0)
        var (running, ends): (Set<UInt64>, [UInt64: Int64]) = ([], [:])
        for now in 1...2000 as ClosedRange<Int64> {
            let number = UInt64(now)
            var actions: [Machine.Action] = []
            switch chance.next(below: 4) {
            case 0...1:
                let (total, url) = (Int64(chance.next(in: 1...40)), "\(chance.next(below: 5))")
                let limit = Self.limit(nil, until: now + total)
                ends[number] = now + total
                if machine.join(number, url, 0, limit, at: Self.time(now)) == nil {
                    actions = machine.begin(number, url, 0, limit).actions
                }
            case 2:
                guard let id = running.sorted().randomElement(using: &chance) else { break }
                running.remove(id)
                let ended = machine.end(id)
                for number in ended.answered { try #require(ends.removeValue(forKey: number) != nil) }
                actions = ended.actions
            default:
                let (late, stopped) = Self.expire(&machine, at: now)
                try #require(late == ends.filter { $0.value <= now }.keys.sorted())
                for number in late { ends[number] = nil }
                actions = stopped
            }
            for case .start(let id) in actions {
                running.insert(id)
                machine.turn(of: id, at: Self.time(now))
            }
            let next = ends.values.min().map(Self.time) ?? .never
            try #require(machine.nextLook ?? .never <= next)
        }
    }
}
