import Dunlin
import LedgerRows
import Synchronization
import Testing

@testable import DunlinSession

@Suite struct SettlementTests {
    @Test(.rows("OP-12")) func `the first value stays, and every caller that waits gets it`() {
        var machine = SettlementMachine<String, Int>()
        #expect(machine.value == nil)
        let early = [machine.wait(1), machine.wait(2)]
        #expect(early == [nil, nil])
        #expect(machine.settle("first") == [1, 2])
        #expect(machine.settle("second") == nil)
        #expect(machine.wait(3) == "first")
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
}
