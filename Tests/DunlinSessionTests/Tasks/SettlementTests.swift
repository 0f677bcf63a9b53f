import Dunlin
import LedgerRows
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct SettlementTests {
    @Test(.rows("OP-12")) func `the first value stays, and every caller that waits gets it`() {
        var machine = SettlementMachine<String, Int>()
        #expect(machine.value == nil)
        let numbers = (1...4).map { waiter -> UInt64 in
            guard case .later(let number) = machine.wait(waiter) else { return 0 }
            return number
        }
        #expect(Set(numbers).count == 4)
        let gaveUp = machine.giveUp(numbers[1])
        #expect(gaveUp == 2)
        #expect(machine.settle("first") == [1, 3, 4])
        #expect(machine.settle("second") == nil)
        let late = machine.giveUp(numbers[0])
        #expect(late == nil, "it was told")
        guard case .settled("first") = machine.wait(5) else { return #expect(Bool(false), "it is settled") }
        #expect(machine.value == "first")
    }

    @Test func `a callback runs once, whether it was added before or after the value`() {
        let settlement = Settlement<Int>()
        let told = Mutex<[Int]>([])
        settlement.whenSettled { value in told.withLock { $0.append(value) } }
        #expect(told.withLock { $0 } == [])
        #expect(settlement.settle(7))
        #expect(!settlement.settle(8))
        settlement.whenSettled { value in told.withLock { $0.append(value + 1) } }
        #expect(told.withLock { $0 } == [7, 8])
    }

    @Test func `a callback that gave up is not called, and what it holds is released`() {
        final class Held: Sendable {}
        let settlement = Settlement<Int>()
        let told = Mutex<[Int]>([])
        weak var released: Held?
        var number: UInt64?
        do {
            let held = Held()
            released = held
            number = settlement.whenSettled { value in
                withExtendedLifetime(held) { told.withLock { $0.append(value) } }
            }
        }
        #expect(released != nil)
        if let number { settlement.giveUp(number) }
        #expect(released == nil)
        settlement.settle(1)
        #expect(told.withLock { $0 } == [])
    }

    @Test(.rows("SM-51")) func `many callers that settle and many that wait agree on one value`() async {
        let settlement = Settlement<Int>()
        let (won, seen) = await withTaskGroup(of: (Bool, Int).self) { group in
            for number in 0..<50 {
                group.addTask {
                    let won = number % 2 == 0 && settlement.settle(number)
                    return (won, await settlement.value)
                }
            }
            var (won, seen) = (0, Set<Int>())
            for await outcome in group {
                won += outcome.0 ? 1 : 0
                seen.insert(outcome.1)
            }
            return (won, seen)
        }
        #expect(won == 1)
        #expect(seen.count == 1)
    }

    @Test func `who is cancelled waits no longer, before the wait or within it, and the others get the value`() async {
        let settlement = Settlement<Int>()
        let tasks = (0..<60).map { _ in Task { await settlement.valueUnlessCancelled } }
        for (number, task) in tasks.enumerated() where number % 3 != 0 {
            if number % 3 == 2 { await Task.yield() }
            task.cancel()
        }
        for (number, task) in tasks.enumerated() where number % 3 != 0 { #expect(await task.value == nil) }
        settlement.settle(7)
        for (number, task) in tasks.enumerated() where number % 3 == 0 { #expect(await task.value == 7) }
        let late = Task { await settlement.valueUnlessCancelled }
        late.cancel()
        #expect(await late.value == 7, "what is settled is there for whoever is cancelled, too")
    }
}
