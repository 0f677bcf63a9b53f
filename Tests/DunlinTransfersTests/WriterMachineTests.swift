import Dunlin
import Testing

@testable import DunlinTransfers

@Suite struct `Writer machine` {
    private typealias Machine = WriterMachine<String, String, String>

    @Test func `pieces are written in order, and a writer at rest begins again`() {
        var machine = Machine(high: 10, low: 5)
        #expect(machine.offer("a", 1) == true)
        #expect(machine.offer("b", 1) == false, "somebody writes already")
        #expect(machine.next().piece == "a")
        #expect(machine.wrote(1) == nil)
        #expect(machine.next().piece == "b")
        _ = machine.wrote(1)
        #expect(machine.next().piece == nil)
        #expect(machine.offer("c", 1) == true)
        #expect(machine.written == 2 && machine.unwritten == 1)
    }

    @Test func `a writer is full above the high mark and has room again at the low one`() {
        var machine = Machine(high: 10, low: 5)
        for name in ["a", "b", "c"] { _ = machine.offer(name, 4) }
        #expect(machine.isFull)
        #expect(machine.waitForRoom("w") == true)
        _ = machine.next()
        #expect(machine.wrote(4) == nil, "8 are left")
        _ = machine.next()
        #expect(machine.wrote(4) == "w", "4 are left")
        #expect(machine.waitForRoom("w") == false)
    }

    @Test func `a writer is full with many pieces, however small, and has room again with half as many`() {
        var machine = Machine(high: 100, low: 50, most: 4)
        for name in ["a", "b", "c", "d"] { _ = machine.offer(name, 1) }
        #expect(!machine.isFull)
        _ = machine.offer("e", 1)
        #expect(machine.isFull && machine.waitForRoom("w") == true)
        for left in [4, 3] {
            _ = machine.next()
            #expect(machine.wrote(1) == nil, "\(left) are left")
        }
        _ = machine.next()
        #expect(machine.wrote(1) == "w", "2 are left")
    }

    @Test func `a writer is at rest when all is written, and not before`() {
        var machine = Machine(high: 10, low: 5)
        #expect(machine.waitForRest("w") == false, "nothing was ever written")
        _ = machine.offer("a", 1)
        #expect(machine.waitForRest("w") == true)
        _ = machine.next()
        #expect(machine.wrote(1) == nil)
        let (piece, waiter) = machine.next()
        #expect(piece == nil && waiter == "w")
    }

    @Test func `a writer keeps its first failure, drops unwritten pieces and resumes its callers`() {
        var machine = Machine(high: 10, low: 5)
        for name in ["a", "b", "c"] { _ = machine.offer(name, 4) }
        _ = machine.next()
        #expect(machine.waitForRoom("w") == true)
        #expect(machine.fail("full") == "w")
        #expect(machine.waitForRest("r") == true, "the writer does not know yet")
        #expect(machine.fail("worse") == nil)
        #expect(machine.wrote(4) == nil)
        let (piece, waiter) = machine.next()
        #expect(piece == nil && waiter == "r")
        #expect(machine.failure == "full")
        #expect(machine.offer("d", 1) == false)
        #expect(machine.unwritten == 0)
        #expect(machine.waitForRest("r") == false)
    }

    @Test func `a caller that has left is not resumed when there is room`() {
        var machine = Machine(high: 1, low: 0)
        _ = machine.offer("a", 2)
        #expect(machine.waitForRoom("w") == true)
        machine.leave()
        _ = machine.next()
        #expect(machine.wrote(2) == nil)
    }
}
