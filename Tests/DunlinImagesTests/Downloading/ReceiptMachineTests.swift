import DunlinTesting
import Testing

@testable import DunlinImages

@Suite struct `The rules of a receipt` {
    typealias Machine = ReceiptMachine<String, Int>

    private static func text(_ entry: Machine.Entry) -> String {
        switch entry {
        case .settled(let outcome): outcome
        case .cancelled: "cancelled"
        case .waiting: "waiting"
        }
    }

    @Test func `the first outcome counts, and is there for whoever comes later`() {
        var machine = Machine()
        let early = machine.begin()
        #expect(Self.text(machine.enter(early, 1)) == "waiting")
        let (told, again) = (machine.settle("one"), machine.settle("two"))
        #expect(told == [1])
        #expect(again == nil)
        let late = machine.begin()
        #expect(Self.text(machine.enter(late, 2)) == "one")
        #expect(machine.isIdle)
    }

    @Test func `a waiter that is cancelled before it waits does not wait`() {
        var machine = Machine()
        let id = machine.begin()
        let told = machine.cancel(id)
        #expect(told == nil)
        #expect(Self.text(machine.enter(id, 1)) == "cancelled")
        let later = machine.cancel(id)
        #expect(later == nil)
        #expect(machine.isIdle)
    }

    @Test func `a waiter that is cancelled is told, and the others are not`() {
        var machine = Machine()
        let (one, two) = (machine.begin(), machine.begin())
        _ = (machine.enter(one, 1), machine.enter(two, 2))
        let told = machine.cancel(one)
        #expect(told == 1)
        let answered = machine.settle("x")
        #expect(answered == [2])
        let late = machine.cancel(two)
        #expect(late == nil)
        #expect(machine.isIdle)
    }

    @Test(arguments: 1...10) func `in a storm of cancels each waiter is told once`(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        var machine = Machine()
        var heard: [Int: Int] = [:]
        var begun: [UInt64] = []
        for step in 0..<500 {
            if step == 400 { for waiter in machine.settle("x") ?? [] { heard[waiter, default: 0] += 1 } }
            switch chance.next(below: 3) {
            case 0: begun.append(machine.begin())
            case 1:
                guard let id = begun.popLast() else { continue }
                if case .waiting = machine.enter(id, Int(id)) { continue }
                heard[Int(id), default: 0] += 1
            default:
                let id = UInt64(chance.next(below: 500))
                if let waiter = machine.cancel(id) { heard[waiter, default: 0] += 1 }
            }
        }
        for id in begun {
            if case .waiting = machine.enter(id, Int(id)) { continue } else { heard[Int(id), default: 0] += 1 }
        }
        #expect(heard.values.allSatisfy { $0 == 1 })
        #expect(machine.isIdle)
    }
}
