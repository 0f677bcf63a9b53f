import Testing

@testable import DunlinTesting

@Suite struct WaitMachineTests {
    typealias Machine = LoopbackServer.WaitMachine<Int>

    @Test func `a waiter that has seen the newest version waits for the next`() {
        var machine = Machine()
        let id = machine.begin()
        #expect(machine.wait(id, since: 0, 7) == nil)
        #expect(machine.announce() == [7])
        #expect(machine.announce() == [])
        #expect(machine.isEmpty)
    }

    @Test func `a waiter that is late does not wait`() {
        var machine = Machine()
        let id = machine.begin()
        #expect(machine.announce() == [])
        #expect(machine.wait(id, since: 0, 7) == 7)
        #expect(machine.isEmpty)
    }

    @Test func `a cancel before, during or after the wait leaves nothing behind`() {
        var machine = Machine()
        let before = machine.begin()
        #expect(machine.cancel(before) == nil)
        #expect(machine.wait(before, since: 0, 1) == 1)
        let during = machine.begin()
        #expect(machine.wait(during, since: 0, 2) == nil)
        #expect(machine.cancel(during) == 2)
        let after = machine.begin()
        #expect(machine.wait(after, since: 0, 3) == nil)
        #expect(machine.announce() == [3])
        #expect(machine.cancel(after) == nil)
        #expect(machine.isEmpty)
    }
}
