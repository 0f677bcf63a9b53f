import Dunlin
import Testing

@testable import DunlinSession

@Suite struct `Queue machine` {
    typealias Machine = QueueMachine<String>

    private static func machine(_ running: Int?, perHost: Int? = nil, waiting: Int = .max) -> Machine {
        QueueMachine(.init(running: running, runningPerOrigin: perHost, maximumWaiting: waiting))
    }

    /// Enters requests named after their order, and tells those that went.
    private static func enter(_ machine: inout Machine, _ requests: [(String, HTTP.Priority)]) -> [Machine.Action] {
        requests.enumerated().map { index, request in machine.enter(request.0, request.1, "\(index)") }
    }

    /// Who goes when one at each of `hosts` leaves, in turn.
    private static func leave(_ machine: inout Machine, _ hosts: [String]) -> [String?] {
        hosts.map { machine.leave($0)?.waiter }
    }

    @Test func `a queue lets as many go as its limit says, and the next with each that leaves`() {
        var machine = Self.machine(2)
        let entries = Self.enter(&machine, [("a", 0), ("b", 0), ("a", 0), ("c", 0)])
        #expect(entries == [.go, .go, .wait(number: 0), .wait(number: 1)])
        #expect([machine.running, machine.waiting] == [2, 2])
        #expect(Self.leave(&machine, ["a", "a", "c", "b"]) == ["2", "3", nil, nil])
        #expect([machine.running, machine.waiting] == [0, 0])
    }

    @Test func `a full host delays no request to another host`() {
        var machine = Self.machine(3, perHost: 1)
        let entries = Self.enter(
            &machine, [("a", 0), ("a", .high), ("b", 0), ("a", 0), ("c", 0), ("d", .low), ("d", 0)])
        #expect(entries.map { $0 == .go } == [true, false, true, false, true, false, false])
        #expect(Self.leave(&machine, ["b", "d", "a", "c"]) == ["6", "5", "1", nil])
        #expect(Self.leave(&machine, ["d", "a", "a"]) == [nil, "3", nil])
        #expect([machine.running, machine.waiting] == [0, 0])
    }

    @Test func `a queue without a total limit counts each host alone`() {
        var machine = Self.machine(nil, perHost: 2)
        let entries = Self.enter(&machine, [("a", 0), ("a", 0), ("a", 0), ("b", 0), ("b", 0), ("b", .high), ("b", 0)])
        #expect(entries.map { $0 == .go } == [true, true, false, true, true, false, false])
        #expect(Self.leave(&machine, ["b", "a", "b"]) == ["5", "2", "6"])
    }

    @Test func `a queue serves by priority, then in order of arrival, over all hosts`() {
        var machine = Self.machine(1, perHost: 1)
        let priorities: [HTTP.Priority] = [0, .low, .high, 0, 7, .high, .low, 0]
        _ = Self.enter(&machine, priorities.enumerated().map { ("h\($0 % 3)", $1) })
        let order = ["h0", "h2", "h2", "h1", "h0", "h1", "h1", "h0"]
        #expect(Self.leave(&machine, order) == ["2", "5", "4", "3", "7", "1", "6", nil])
    }

    @Test(
        arguments: [
            (1, .high, ["1", "2", "3"]), (3, .high, ["3", "1", "2"]), (2, .low, ["1", "3", "2"]),
            (1, .low, ["2", "3", "1"]), (3, 0, ["1", "2", "3"]), (9, .high, ["1", "2", "3"]),
        ] as [(Int, HTTP.Priority, [String])], [1, nil])
    func `a changed priority counts at once, and the order of arrival stays`(
        change: (Int, HTTP.Priority, [String]), perHost: Int?
    ) {
        var machine = Self.machine(1, perHost: perHost)
        _ = Self.enter(&machine, ["a", "b", "c", "b"].map { ($0, 0) })
        machine.move(UInt64(change.0 - 1), ["", "b", "c", "b"][change.0 % 4], to: change.1)
        let hosts = ["a"] + change.2.map { ["", "b", "c", "b"][Int($0) ?? 0] }
        #expect(Self.leave(&machine, hosts) == change.2 + [nil])
    }

    @Test func `a request behind too many others is turned away, and no place is kept for it`() {
        var machine = Self.machine(1, waiting: 1)
        let entries = Self.enter(&machine, [("a", 0), ("a", 0), ("a", .high)])
        #expect(entries == [.go, .wait(number: 0), .refuse])
        #expect(Self.leave(&machine, ["a", "a"]) == ["1", nil])
        #expect(machine.enter("a", 0, "later") == .go)
    }

    @Test func `a cancelled wait is not served, and one that had been served is told so`() {
        var machine = Self.machine(1)
        _ = Self.enter(&machine, [("a", 0), ("a", 0), ("a", 0)])
        let given = [machine.giveUp(0, "a"), machine.giveUp(0, "a"), machine.giveUp(8, "b")]
        #expect(given == ["1", nil, nil])
        #expect(Self.leave(&machine, ["a"]) == ["2"])
        let late = machine.giveUp(1, "a")
        #expect(late == nil)
        #expect([machine.running, machine.waiting] == [1, 0])
    }

    @Test func `a request that stepped aside keeps its position, also where no more may wait`() {
        var machine = Self.machine(1, waiting: 2)
        _ = Self.enter(&machine, [("a", 0), ("a", 0), ("a", 0)])
        _ = machine.giveUp(0, "a")
        #expect(machine.enter("a", 0, "3") == .wait(number: 2))
        #expect(machine.enter("a", 0, as: 0, "1") == .wait(number: 0))
        #expect(machine.waiting == 3)
        #expect(Self.leave(&machine, ["a", "a", "a", "a"]) == ["1", "2", "3", nil])
        #expect(machine.enter("a", 0, as: 0, "1") == .go)
    }
}
