import Dunlin
import DunlinTesting
import Testing

@testable import DunlinTransfers

/// Of four workers the first has an answer that reaches to the end, and the middle one is answered before the last.
@Suite struct `Segment machine, when requests are refused` {
    private typealias Machine = SegmentMachine<Int>

    enum Refusal: CaseIterable {
        case useless, breaking, silent
    }

    /// The first one brings 0..<500, the third 500..<750, and the second has asked for what is behind.
    private static func machine() -> Machine {
        var rules = Machine.Rules()
        rules.minimum = 100
        var machine = Machine(rules, workers: 4, gaps: [0..<1000], lead: 0..<1000)
        #expect(machine.next(for: 1, 1) == .ask(750..<1000))
        #expect(machine.next(for: 2, 2) == .ask(500..<750))
        #expect(machine.next(for: 3, 3) == .ask(250..<500))
        #expect(machine.answered(500..<750, to: 2).isWanted)
        return machine
    }

    private static func refuse(_ machine: inout Machine, _ worker: Int, _ refusal: Refusal) {
        switch refusal {
        case .useless: _ = machine.refused(worker)
        case .breaking: #expect(machine.broke(worker, mayPass: false).delay == nil)
        case .silent: break
        }
    }

    @Test(arguments: Refusal.allCases, Refusal.allCases)
    func `what lies behind another's range is brought by the answer that reaches it`(last: Refusal, near: Refusal) {
        var machine = Self.machine()
        Self.refuse(&machine, 1, last)
        Self.refuse(&machine, 3, near)
        #expect(machine.received(500, by: 0) == .init(count: 500, isEnd: false))
        #expect(machine.received(100, by: 0) == .init(skipped: 100, count: 0, isEnd: false))
        #expect(machine.received(200, by: 0) == .init(skipped: 150, count: 50, isEnd: false))
        #expect(!machine.answered(750..<1000, to: 1).isWanted, "the first one has come there")
        #expect(machine.received(250, by: 2) == .init(count: 250, isEnd: true))
        #expect(machine.received(200, by: 0) == .init(count: 200, isEnd: true))
        #expect(machine.isComplete)
    }

    @Test func `what a short answer leaves out is brought by the answer that reaches it`() {
        var machine = Self.machine()
        #expect(machine.answered(750..<900, to: 1).isWanted)
        #expect(machine.received(150, by: 1) == .init(count: 150, isEnd: true))
        _ = machine.ended(1)
        #expect(machine.next(for: 1, 1) == .ask(900..<1000))
        _ = machine.refused(1)
        #expect(machine.received(500, by: 0) == .init(count: 500, isEnd: false))
        #expect(machine.received(500, by: 0) == .init(skipped: 400, count: 100, isEnd: true))
        #expect(machine.received(250, by: 2).count == 250)
        #expect(machine.isComplete)
    }

    @Test func `an answer is not read on when others are answered for all that it reaches`() {
        var machine = Self.machine()
        #expect(machine.answered(750..<1000, to: 1).isWanted)
        Self.refuse(&machine, 3, .useless)
        #expect(machine.received(500, by: 0) == .init(count: 500, isEnd: true))
    }

    @Test func `what a broken answer left is asked for again, until a worker has left`() {
        var machine = Self.machine()
        _ = machine.answered(750..<1000, to: 1)
        _ = machine.broke(1, mayPass: true)
        #expect(machine.received(500, by: 0) == .init(count: 500, isEnd: true))
        machine = Self.machine()
        _ = machine.answered(750..<1000, to: 1)
        _ = machine.broke(1, mayPass: true)
        Self.refuse(&machine, 3, .useless)
        #expect(machine.received(500, by: 0) == .init(count: 500, isEnd: false))
    }

    @Test func `an answer that has come into an open range takes the rest of it`() {
        var machine = Self.machine()
        _ = machine.refused(1)
        #expect(machine.received(500, by: 0).isEnd == false)
        #expect(machine.received(100, by: 0) == .init(skipped: 100, count: 0, isEnd: false))
        #expect(machine.received(50, by: 2) == .init(count: 50, isEnd: false))
        _ = machine.broke(2, mayPass: true)
        // The first one is at 600, and 550 is behind it.
        #expect(machine.received(100, by: 0) == .init(count: 100, isEnd: false))
        #expect(machine.next(for: 2, 2) == .ask(550..<600))
        #expect(machine.answered(550..<600, to: 2).isWanted)
        #expect(machine.received(50, by: 2) == .init(count: 50, isEnd: true))
        #expect(machine.received(300, by: 0) == .init(count: 300, isEnd: true))
        #expect(machine.isComplete)
    }

    @Test func `a worker that reads what others bring is a bystander until its own bytes come`() {
        var machine = Self.machine()
        #expect(machine.unansweredWorkers == [1, 3])
        _ = machine.received(500, by: 0)
        _ = machine.received(100, by: 0)
        #expect(machine.unansweredWorkers == [0, 1, 3])
        _ = machine.received(200, by: 0)
        #expect(machine.unansweredWorkers == [1, 3])
    }

    @Test func `a range that is not answered is asked for again though another was refused`() {
        var rules = Machine.Rules()
        rules.minimum = 100
        var machine = Machine(rules, workers: 3, gaps: [0..<100, 200..<300, 400..<500], lead: 0..<100)
        #expect(machine.next(for: 1, 1) == .ask(200..<300))
        #expect(machine.next(for: 2, 2) == .ask(400..<500))
        _ = machine.refused(2)
        _ = machine.received(100, by: 0)
        _ = machine.ended(0)
        #expect(machine.next(for: 0, 0) == .ask(400..<500))
        _ = machine.answered(400..<500, to: 0)
        _ = machine.received(100, by: 0)
        _ = machine.ended(0)
        #expect(machine.next(for: 0, 0) == .hesitate)
        #expect(machine.overtake(for: 0) == 200..<300)
        #expect(machine.answered(200..<300, to: 0).isWanted)
        #expect(machine.received(100, by: 0) == .init(count: 100, isEnd: true))
        #expect(machine.isComplete)
    }
}
