import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@testable import DunlinImages

@Suite struct `The rules of downloads` {
    typealias Machine = ImageDownloadMachine<String>
    typealias Action = Machine.Action

    private static func ask(_ machine: inout Machine, _ waiter: UInt64, _ url: String, _ priority: Int = 0) -> [Action]
    {
        let limit = HTTPSession.WaitLimit(total: nil)
        if machine.join(waiter, url, priority, limit, at: HTTP.Instant(nanoseconds: 0)) != nil { return [] }
        return machine.begin(waiter, url, priority, limit).actions
    }

    @Test(.rows("ID-5", "ID-10")) func `waiters for the same thing share a download, and are answered in order`() {
        var machine = Machine(maximum: 4, order: .firstInFirstOut)
        #expect(Self.ask(&machine, 1, "a") == [.start(1)])
        #expect(Self.ask(&machine, 2, "a") == [])
        #expect(Self.ask(&machine, 3, "b") == [.start(2)])
        #expect(Self.ask(&machine, 4, "a") == [])
        let (answered, actions) = machine.end(1)
        #expect(answered == [1, 2, 4])
        #expect(actions == [])
        #expect(machine.active == 1)
    }

    @Test(.rows("ID-2", "ID-13")) func `a limited number run at a time, and the next begins when one has ended`() {
        var machine = Machine(maximum: 2, order: .firstInFirstOut)
        var started: [Action] = []
        for waiter in 1...4 as ClosedRange<UInt64> { started += Self.ask(&machine, waiter, "\(waiter)") }
        #expect(started == [.start(1), .start(2)])
        #expect(machine.queued == 2)
        let (_, actions) = machine.end(2)
        #expect(actions == [.start(3)])
        // A download that never began, or has ended, cannot end.
        let (none, again) = machine.end(4)
        #expect(none.isEmpty && again.isEmpty)
        #expect(machine.active == 2)
    }

    @Test(.rows("ID-18", "ID-14"))
    func `the last who leaves stops a download, which keeps its slot until it has ended`() {
        var machine = Machine(maximum: 1, order: .firstInFirstOut)
        _ = Self.ask(&machine, 1, "a")
        _ = Self.ask(&machine, 2, "a")
        _ = Self.ask(&machine, 3, "b")
        let first = machine.leave(1)
        #expect(first.actions == [])
        let second = machine.leave(2)
        #expect(second.actions == [.stop(1)])
        #expect(machine.active == 1)
        let (answered, actions) = machine.end(1)
        #expect(answered == [])
        #expect(actions == [.start(2)])
    }

    @Test(.rows("ID-14", "ID-18")) func `a download that nobody wants before it begins is never sent`() {
        var machine = Machine(maximum: 1, order: .firstInFirstOut, finishesForCache: true)
        _ = Self.ask(&machine, 1, "a")
        _ = Self.ask(&machine, 2, "b")
        let left = machine.leave(2)
        #expect(left.actions == [])
        #expect(left.download.map { machine.knows($0) } == false)
        let (_, actions) = machine.end(1)
        #expect(actions == [])
        #expect(machine.isIdle)
    }

    @Test(.rows("ID-18")) func `a download may go on for the cache alone, and be joined again`() {
        var machine = Machine(maximum: 1, order: .firstInFirstOut, finishesForCache: true)
        _ = Self.ask(&machine, 1, "a")
        let left = machine.leave(1)
        #expect(left.actions == [])
        #expect(Self.ask(&machine, 2, "a") == [])
        let (answered, _) = machine.end(1)
        #expect(answered == [2])
        #expect(machine.isIdle)
    }

    @Test(.rows("ID-12", "ID-21"))
    func `a download asked for again after a cancel is another one, and begins beside it`() {
        var machine = Machine(maximum: 4, order: .firstInFirstOut)
        _ = Self.ask(&machine, 1, "a")
        _ = machine.leave(1)
        #expect(Self.ask(&machine, 2, "a") == [.start(2)])
        #expect(Self.ask(&machine, 3, "a") == [])
        #expect(machine.waiters(of: 1) == [])
        let (answered, actions) = machine.end(1)
        #expect(answered == [] && actions == [])
        let (later, _) = machine.end(2)
        #expect(later == [2, 3])
        #expect(machine.isIdle)
    }

    @Test func `a retired download answers those who wait, and another one runs beside it`() {
        var machine = Machine(maximum: 2, order: .firstInFirstOut)
        _ = Self.ask(&machine, 1, "a")
        #expect(machine.joinable("a") == 1)
        machine.retire(1)
        #expect(machine.joinable("a") == nil)
        #expect(Self.ask(&machine, 2, "a") == [.start(2)])
        #expect(Self.ask(&machine, 3, "a") == [])
        machine.retire(1)
        let (late, none) = machine.end(2)
        #expect(late == [2, 3] && none == [])
        let (early, actions) = machine.end(1)
        #expect(early == [1] && actions == [])
        #expect(machine.isIdle)
    }

    @Test(.rows("ID-20")) func `leaving a download twice, or without having joined it, has no effect`() {
        var machine = Machine(maximum: 1, order: .firstInFirstOut)
        _ = Self.ask(&machine, 1, "a")
        let (unknown, first, second) = (machine.leave(7), machine.leave(1), machine.leave(1))
        #expect(unknown.actions == [] && unknown.download == nil)
        #expect(first.actions == [.stop(1)])
        #expect(second.actions == [])
    }

    @Test func `a download has the highest priority of those who wait for it`() {
        var machine = Machine(maximum: 1, order: .firstInFirstOut)
        _ = Self.ask(&machine, 1, "running")
        _ = Self.ask(&machine, 2, "prefetched", -100)
        _ = Self.ask(&machine, 3, "usual")
        _ = Self.ask(&machine, 4, "prefetched", 50)
        _ = Self.ask(&machine, 5, "late", 60)
        machine.setPriority(-200, of: 5)
        var order: [UInt64] = []
        var running: UInt64? = 1
        while let id = running {
            order.append(id)
            let (_, actions) = machine.end(id)
            running = nil
            for case .start(let next) in actions { running = next }
        }
        #expect(order == [1, 2, 3, 4])
    }

    @Test(.rows("ID-26")) func `closing answers all, stops what runs, and forgets what waits`() {
        var machine = Machine(maximum: 2, order: .firstInFirstOut)
        for waiter in 1...3 as ClosedRange<UInt64> { _ = Self.ask(&machine, waiter, "\(waiter)") }
        let (answered, actions) = machine.close()
        #expect(answered == [1, 2, 3])
        #expect(actions == [.stop(1), .stop(2)])
        _ = (machine.end(1), machine.end(2))
        #expect(machine.isIdle)
    }

    @Test(.rows("ID-14", "ID-23"), arguments: 1...20)
    func `in any order of events each is answered once, and the limit holds`(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let maximum = chance.next(in: 1...5)
        var machine = Machine(
            maximum: maximum, order: seed % 2 == 0 ? .firstInFirstOut : .lastInFirstOut, finishesForCache: seed % 3 == 0
        )
        var running: Set<UInt64> = []
        var waiting: Set<UInt64> = []
        var urls: [UInt64: String] = [:]
        func perform(_ actions: [Action]) throws {
            for action in actions {
                switch action {
                case .start(let id): try #require(running.insert(id).inserted)
                case .stop(let id): try #require(running.contains(id))
                }
            }
            try #require(running.count <= maximum)
            try #require(machine.active == running.count)
        }
        for waiter in 1...2000 as ClosedRange<UInt64> {
            switch chance.next(below: 7) {
            case 0..<3:
                urls[waiter] = "\(chance.next(below: 20))"
                waiting.insert(waiter)
                try perform(Self.ask(&machine, waiter, urls[waiter] ?? "", chance.next(in: -2...2)))
            case 3:
                guard let leaving = waiting.sorted().randomElement(using: &chance) else { continue }
                waiting.remove(leaving)
                try perform(machine.leave(leaving).actions)
            case 4:
                guard let other = waiting.sorted().randomElement(using: &chance) else { continue }
                machine.setPriority(chance.next(in: -2...2), of: other)
            case 5:
                guard let id = running.sorted().randomElement(using: &chance) else { continue }
                machine.retire(id)
            default:
                guard let id = running.sorted().randomElement(using: &chance) else { continue }
                running.remove(id)
                let (answered, actions) = machine.end(id)
                for waiter in answered { try #require(waiting.remove(waiter) != nil) }
                try #require(Set(answered.map { urls[$0] }).count <= 1)
                try perform(actions)
            }
            try #require(machine.waiting == waiting.count)
        }
        while let id = running.popFirst() {
            let (answered, actions) = machine.end(id)
            for waiter in answered { try #require(waiting.remove(waiter) != nil) }
            try perform(actions)
        }
        #expect(waiting.isEmpty)
        #expect(machine.isIdle)
    }
}
