import Testing

@testable import DunlinSecure

@Suite struct `Tickets` {
    struct Note: Ticket, Equatable {
        var name: Int
        var isForOneUse = true
        var made: Int64 = 1000
        var lifetime: Int64 = 100
    }

    @Test func `tickets for one use are handed out once, the latest first`() {
        var machine = TicketMachine<Int, Note>(TicketLimits(perKey: 4))
        for name in 1...6 { machine.keep(Note(name: name), for: 0) }
        #expect((0..<5).map { _ in machine.take(0, at: 1000)?.name } == [6, 5, 4, 3, nil])
        #expect(machine.count == 0)
    }

    @Test func `a ticket for several uses stays, the latest only`() {
        var machine = TicketMachine<Int, Note>()
        for name in 1...3 { machine.keep(Note(name: name, isForOneUse: false), for: 0) }
        #expect((0..<3).map { _ in machine.take(0, at: 1000)?.name } == [3, 3, 3])
        #expect(machine.count == 1)
    }

    @Test(
        arguments: [
            (lifetime: 100, now: 1000, isGood: true), (100, 1099, true), (100, 1100, false), (100, 999, true),
            (100, 998, false), (1_000_000, 1000 + 86_399, true), (1_000_000, 1000 + 86_400, false),
        ] as [(lifetime: Int64, now: Int64, isGood: Bool)])
    func `a ticket is good for as long as the server says, and for a day at most`(
        lifetime: Int64, now: Int64, isGood: Bool
    ) {
        var machine = TicketMachine<Int, Note>()
        machine.keep(Note(name: 1, lifetime: lifetime), for: 0)
        #expect((machine.take(0, at: now) != nil) == isGood)
    }

    @Test func `a ticket without a lifetime is kept for a day, but dropped if it is for one use`() {
        var machine = TicketMachine<Int, Note>()
        machine.keep(Note(name: 1, lifetime: 0), for: 0)
        #expect(machine.count == 0)
        machine.keep(Note(name: 2, isForOneUse: false, lifetime: 0), for: 0)
        #expect(machine.take(0, at: 1000 + 86_399) != nil)
        #expect(machine.take(0, at: 1000 + 86_400) == nil)
    }

    @Test func `tickets of too many keys are dropped, the least recently used first`() {
        var machine = TicketMachine<Int, Note>(TicketLimits(keys: 3))
        for key in 1...3 { machine.keep(Note(name: key, isForOneUse: false), for: key) }
        _ = machine.take(1, at: 1000)
        machine.keep(Note(name: 4), for: 4)
        #expect((1...4).map { machine.take($0, at: 1000)?.name } == [1, nil, 3, 4])
    }

    @Test func `tickets are forgotten one key at a time`() {
        var machine = TicketMachine<Int, Note>()
        for key in 1...3 { machine.keep(Note(name: key), for: key) }
        machine.discard(1)
        #expect(machine.count == 2)
    }
}
