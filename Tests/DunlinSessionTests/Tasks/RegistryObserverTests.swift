import Dunlin
import DunlinTypes
import Testing

@testable import DunlinSession

@Suite struct `Observers of a registry` {
    private typealias Machine = RegistryMachine<String, Int>

    private static func time(_ nanoseconds: Int64) -> HTTP.Instant { HTTP.Instant(nanoseconds: nanoseconds) }

    private static func isMoving(_ name: String) -> Bool { name.first != "-" }

    /// Those who are told; names with a dash in front do not move.
    private static func enter(_ name: String, _ machine: inout Machine, of era: UInt64 = 1) -> [Int] {
        if machine.add(name, of: era) != nil { return [] }
        do { return try machine.admit(name, of: era, moves: isMoving(name)).informed } catch { return [-1] }
    }

    private static func leave(_ slot: Int, _ machine: inout Machine, at now: Int64? = 0) -> [Int] {
        let time = machine.hasObservers ? now.map(time) : nil
        return machine.remove(slot, at: time) ? [] : machine.end(slot, at: time)
    }

    /// Whether it is busy.
    @discardableResult
    private static func look(_ id: UInt64, _ machine: inout Machine, for news: News) -> Bool {
        machine.look(id, for: news, where: isMoving).isBusy
    }

    @Test func `an observer is told of the next request that arrives, and of no other`() {
        var machine = Machine()
        let id = machine.join(7)
        #expect(!Self.look(id, &machine, for: .arrival))
        let told = ["a", "b"].map { Self.enter($0, &machine) }
        #expect(told == [[7], []])
        Self.look(id, &machine, for: .arrival)
        let later = Self.enter("c", &machine)
        #expect(later == [], "there was one already")
    }

    @Test func `an observer is not told of a request that does not move`() {
        var machine = Machine()
        let id = machine.join(7)
        Self.look(id, &machine, for: .arrival)
        let told = ["-a", "-b", "c"].map { Self.enter($0, &machine) }
        #expect(told == [[], [], [7]])
    }

    @Test func `an observer is told when the moving request it saw ends, whatever else ends`() {
        var machine = Machine()
        let id = machine.join(7)
        for name in ["-a", "b", "c"] { _ = Self.enter(name, &machine) }
        #expect(Self.look(id, &machine, for: .end))
        let told = [2, 0, 1].map { Self.leave($0, &machine) }
        #expect(told == [[], [], [7]])
        _ = Self.enter("d", &machine)
        let later = Self.leave(1, &machine)
        #expect(later == [], "the place is another's")
    }

    @Test(arguments: [News.nothing, .arrival, .end])
    func `an observer is told only of what it asked for last`(first: News) {
        var machine = Machine()
        let id = machine.join(7)
        Self.look(id, &machine, for: first)
        Self.look(id, &machine, for: .nothing)
        let told = [Self.enter("a", &machine), Self.leave(0, &machine)]
        #expect(told == [[], []])
    }

    @Test func `every observer is told of a suspend or resume, and each of what it asked for`() {
        var machine = Machine()
        let ids = [machine.join(1), machine.join(2), machine.join(3)]
        Self.look(ids[0], &machine, for: .arrival)
        Self.look(ids[2], &machine, for: .arrival)
        let told = Self.enter("a", &machine)
        #expect(told == [1, 3])
        Self.look(ids[1], &machine, for: .end)
        let all = [machine.noteSuspension(since: Self.time(5)), machine.noteSuspension(since: nil)]
        #expect(all == [[1, 2, 3], [1, 2, 3]])
        let ended = Self.leave(0, &machine)
        #expect(ended == [2])
    }

    @Test func `the ends of moving requests are counted, with the time of the last`() {
        var machine = Machine()
        for name in ["a", "b", "-c", "d"] { _ = Self.enter(name, &machine) }
        _ = Self.leave(0, &machine, at: 1)
        _ = machine.noteSuspension(since: Self.time(2))
        let id = machine.join(7)
        var seen: [Int64] = []
        func note() {
            let ends = machine.look(id, for: .nothing, where: Self.isMoving).ends
            seen += [Int64(ends.count), ends.last.nanoseconds]
        }
        note()
        _ = Self.leave(1, &machine, at: 3)
        note()
        _ = Self.leave(2, &machine, at: nil)
        note()
        machine.unlist(3)
        _ = Self.leave(3, &machine, at: 5)
        note()
        _ = machine.noteSuspension(since: Self.time(6))
        note()
        _ = machine.noteSuspension(since: nil)
        note()
        #expect(seen == [0, 0, 1, 3, 1, 3, 2, 5, 3, 6, 3, 6])
    }

    @Test func `requests take the short way unless an observer waits for an arrival or an end`() {
        var machine = Machine()
        let id = machine.join(7)
        func isShort() -> [Bool] {
            let slot = machine.add("a", of: 1)
            if slot == nil { _ = Self.enter("-a", &machine) }
            let isShort = machine.remove(0, at: Self.time(0))
            if !isShort { _ = machine.end(0, at: Self.time(0)) }
            return [slot != nil, isShort]
        }
        var ways = [isShort()]
        Self.look(id, &machine, for: .arrival)
        ways.append(isShort())
        _ = Self.enter("b", &machine)
        _ = Self.enter("b", &machine)
        Self.look(id, &machine, for: .end)
        let told = Self.leave(1, &machine) + Self.leave(0, &machine)
        ways.append(isShort())
        Self.look(id, &machine, for: .arrival)
        machine.remove(observer: id)
        ways.append(isShort())
        #expect(ways == [[true, true], [false, true], [true, true], [true, true]])
        #expect(told == [7])
        let left = machine.noteSuspension(since: nil)
        #expect(left == [])
    }

    @Test func `an observer is not told of a request that a closed registry refuses`() {
        var machine = Machine()
        let id = machine.join(7)
        Self.look(id, &machine, for: .arrival)
        machine.close(1)
        let refused = Self.enter("a", &machine)
        let taken = Self.enter("a", &machine, of: 2)
        #expect([refused, taken] == [[-1], [7]])
    }

    @Test func `an observer does not hinder callers that wait for one request or for the last`() {
        var machine = Machine()
        let id = machine.join(7)
        for name in ["a", "b"] { _ = Self.enter(name, &machine) }
        Self.look(id, &machine, for: .end)
        _ = machine.observeRequest(8) { $0 == "a" }
        _ = machine.wait(9)
        let told = [Self.leave(0, &machine), Self.leave(1, &machine)]
        #expect(told == [[7, 8], [9]])
    }
}
