import Dunlin
import DunlinTesting
import Testing

@testable import DunlinImages

/// Code within a download asks: a filter, or a hook of its request.
@Suite struct `The rules for who asks within a download` {
    typealias Machine = ImageDownloadMachine<String>
    typealias Action = Machine.Action

    /// Asks within a download, or as others do.
    private static func ask(
        _ machine: inout Machine, _ waiter: UInt64, _ url: String, isWithin: Bool = false
    ) -> [Action] {
        let limit = HTTPSession.WaitLimit(total: nil)
        if !isWithin, machine.join(waiter, url, 0, limit, at: HTTP.Instant(nanoseconds: 0)) != nil { return [] }
        return machine.begin(waiter, url, 0, limit, isAlone: isWithin).actions
    }

    private static func end(_ machine: inout Machine, _ id: UInt64) -> [Action] { machine.end(id).actions }

    @Test func `what is asked for within a download takes no slot`() {
        var machine = Machine(maximum: 1, order: .firstInFirstOut)
        #expect(Self.ask(&machine, 1, "a") == [.start(1)])
        #expect(Self.ask(&machine, 2, "b") == [])
        #expect(Self.ask(&machine, 3, "c", isWithin: true) == [.start(3)])
        #expect(machine.active == 2 && machine.queued == 1)
        #expect(Self.end(&machine, 3) == [])
        #expect(Self.end(&machine, 1) == [.start(2)])
        #expect(Self.end(&machine, 2) == [])
        #expect(machine.isIdle)
    }

    @Test func `what is asked for within a download is not shared`() {
        var machine = Machine(maximum: 4, order: .firstInFirstOut)
        #expect(Self.ask(&machine, 1, "a") == [.start(1)])
        #expect(Self.ask(&machine, 2, "a", isWithin: true) == [.start(2)])
        #expect(Self.ask(&machine, 3, "b", isWithin: true) == [.start(3)])
        #expect(Self.ask(&machine, 4, "b") == [.start(4)])
        #expect(Self.ask(&machine, 5, "a") == [])
        #expect([1, 2, 3, 4].map { machine.end($0).answered } == [[1, 5], [2], [3], [4]])
        #expect(machine.isIdle)
    }

    @Test func `what is asked for within a stopped download does not wait for its end`() {
        var machine = Machine(maximum: 2, order: .firstInFirstOut)
        _ = Self.ask(&machine, 1, "a")
        #expect(machine.leave(1).actions == [.stop(1)])
        #expect(Self.ask(&machine, 2, "b") == [.start(2)])
        #expect(Self.ask(&machine, 3, "a", isWithin: true) == [.start(3)])
        #expect(machine.end(3).answered == [3])
        #expect(Self.end(&machine, 1) == [])
        #expect(machine.end(2).answered == [2])
        #expect(machine.isIdle)
    }

    @Test func `what is asked for within a download is stopped when nobody wants it`() {
        var machine = Machine(maximum: 1, order: .firstInFirstOut)
        _ = Self.ask(&machine, 1, "a")
        _ = Self.ask(&machine, 2, "b", isWithin: true)
        #expect(machine.leave(2).actions == [.stop(2)])
        #expect(Self.end(&machine, 2) == [])
        #expect(Self.end(&machine, 1) == [])
        #expect(machine.isIdle)
    }

    @Test(arguments: 1...20) func `in any order of events some download can end`(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let maximum = chance.next(in: 1...3)
        var machine = Machine(
            maximum: maximum, order: seed % 2 == 0 ? .firstInFirstOut : .lastInFirstOut, finishesForCache: seed % 3 == 0
        )
        var running: Set<UInt64> = []
        /// What each waiter is within.
        var waiting: [UInt64: Set<UInt64>] = [:]
        func perform(_ actions: [Action]) {
            for case .start(let id) in actions { running.insert(id) }
        }
        /// Those whose code waits for nothing.
        func free() -> [UInt64] { running.subtracting(waiting.values.reduce([]) { $0.union($1) }).sorted() }
        func end(_ id: UInt64) throws {
            running.remove(id)
            let (answered, actions) = machine.end(id)
            for waiter in answered { try #require(waiting.removeValue(forKey: waiter) != nil) }
            perform(actions)
        }
        for waiter in 1...1000 as ClosedRange<UInt64> {
            let outer = running.sorted().randomElement(using: &chance)
            switch chance.next(below: 7) {
            case 0..<2:
                waiting[waiter] = []
                perform(Self.ask(&machine, waiter, "\(chance.next(below: 9))"))
            case 2..<4:
                guard let outer else { continue }
                waiting[waiter] = [outer]
                perform(Self.ask(&machine, waiter, "\(chance.next(below: 9))", isWithin: true))
            case 4:
                guard let leaving = waiting.keys.sorted().randomElement(using: &chance) else { continue }
                waiting[leaving] = nil
                perform(machine.leave(leaving).actions)
            default:
                let free = free()
                try #require(!free.isEmpty || running.isEmpty)
                if let id = free.randomElement(using: &chance) { try end(id) }
            }
        }
        while let id = free().first { try end(id) }
        #expect(waiting.isEmpty && running.isEmpty)
        #expect(machine.isIdle)
    }
}
