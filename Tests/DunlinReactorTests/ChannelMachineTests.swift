import DunlinTypes
import Testing

@testable import DunlinReactor

/// What a machine said, in words that can be compared.
private enum Said: Equatable {
    case waiting
    case scheduled(Int64)
    case resumed(Int, Wake)
}

/// Tells a machine what happens, and puts its answers into words.
private final class Driver {
    private var machine = ChannelMachine<Int>()

    /// `age`: how long ago somebody looked.
    func beginTurn(age: Int64 = 0) -> ChannelMachine<Int>.Begin {
        machine.beginTurn(
            lastLook: HTTP.Instant(nanoseconds: 1_000_000_000 - age), at: HTTP.Instant(nanoseconds: 1_000_000_000))
    }
    func endTurn() -> Bool { machine.endTurn() }
    func clearUnseenInput() { machine.clearUnseenInput() }
    func keepUnseenInput() { machine.keepUnseenInput() }
    func stopWriting() -> Int? { machine.stopWriting() }
    func cancel(turn: UInt64) -> String { machine.cancel(turn: turn).text }
    func close() -> String { machine.close().text }

    func wakeReader() -> Int? { machine.wakeReader() }

    func ask(_ waiter: Int, _ direction: ChannelMachine<Int>.Direction, until deadline: Int64 = .max) -> Said {
        switch machine.wait(waiter, for: direction, until: HTTP.Instant(nanoseconds: deadline)) {
        case .waiting: .waiting
        case .waitingAndScheduled(let time): .scheduled(time.nanoseconds)
        case .resume(let waiter, let wake): .resumed(waiter, wake)
        }
    }

    func edge(reading: Bool = false, writing: Bool = false, inputEnded: Bool = false) -> String {
        machine.becameReady(reading: reading, writing: writing, inputEnded: inputEnded).text
    }

    func isNews(reading: Bool, writing: Bool) -> Bool {
        machine.becameReady(reading: reading, writing: writing).isUnsolicited
    }

    func look(at now: Int64) -> String {
        let expiry = machine.deadlinePassed(at: HTTP.Instant(nanoseconds: now))
        let next = expiry.next == .never ? "never" : "\(expiry.next.nanoseconds)"
        return "\(expiry.wakes.text) next \(next)"
    }
}

extension ChannelMachine<Int>.Wakes {
    /// Who is woken: `r1w2` for reader 1 and writer 2.
    fileprivate var text: String {
        (reading.map { "r\($0)" } ?? "") + (writing.map { "w\($0)" } ?? "")
    }
}

@Suite struct `Channel machine` {
    private static func opened() -> Driver {
        let driver = Driver()
        #expect(driver.beginTurn() == .turn(1))
        return driver
    }

    @Test(arguments: [true, false])
    func `the channel machine remembers an edge until the next wait, and tells it once`(isReading: Bool) {
        let machine = Self.opened()
        #expect(machine.edge(reading: isReading, writing: !isReading) == "")
        #expect(machine.edge(reading: isReading, writing: !isReading) == "")
        let direction: ChannelMachine<Int>.Direction = isReading ? .reading : .writing
        #expect(machine.ask(7, direction) == .resumed(7, .ready))
        #expect(machine.ask(8, direction) == .waiting)
        #expect(machine.edge(reading: isReading, writing: !isReading) == (isReading ? "r8" : "w8"))
        #expect(machine.ask(9, direction) == .waiting)
    }

    @Test func `an edge wakes each direction alone, and both at once`() {
        let machine = Self.opened()
        #expect(machine.ask(1, .reading) == .waiting)
        #expect(machine.ask(2, .writing) == .waiting)
        #expect(machine.edge(writing: true) == "w2")
        #expect(machine.ask(3, .writing) == .waiting)
        #expect(machine.edge(reading: true, writing: true) == "r1w3")
        #expect(machine.edge() == "")
    }

    @Test func `a second waiter is refused, and the first stays`() {
        let machine = Self.opened()
        #expect(machine.ask(1, .reading) == .waiting)
        #expect(machine.ask(2, .reading) == .resumed(2, .busy))
        #expect(machine.ask(3, .writing) == .waiting)
        #expect(machine.ask(4, .writing) == .resumed(4, .busy))
        #expect(machine.edge(reading: true, writing: true) == "r1w3")
    }

    @Test func `an interrupt ends the waits of its turn, now and later`() {
        let machine = Self.opened()
        _ = machine.ask(1, .reading)
        _ = machine.ask(2, .writing)
        #expect(machine.cancel(turn: 1) == "r1w2")
        #expect(machine.ask(3, .reading) == .resumed(3, .cancelled))
        #expect(machine.ask(4, .writing) == .resumed(4, .cancelled))
        #expect(machine.cancel(turn: 1) == "")
    }

    @Test func `an interrupt for another turn ends no wait`() {
        let machine = Self.opened()
        #expect(machine.cancel(turn: 2) == "")
        #expect(machine.endTurn())
        #expect(machine.cancel(turn: 1) == "")
        #expect(machine.beginTurn() == .turn(2))
        #expect(machine.ask(1, .reading) == .waiting)
        #expect(machine.cancel(turn: 1) == "")
        #expect(machine.edge(reading: true) == "r1")
    }

    @Test func `an interrupted turn leaves nothing to the next`() {
        let machine = Self.opened()
        _ = machine.cancel(turn: 1)
        #expect(machine.endTurn())
        #expect(machine.beginTurn() == .turn(2))
        #expect(machine.ask(1, .reading) == .waiting)
        #expect(machine.ask(2, .writing) == .waiting)
    }

    @Test func `an interrupted turn still remembers edges`() {
        let machine = Self.opened()
        _ = machine.cancel(turn: 1)
        #expect(machine.edge(reading: true) == "")
        #expect(!machine.endTurn())
        #expect(machine.beginTurn() == .unseenInput)
    }

    @Test func `a closed channel stays closed`() {
        let machine = Self.opened()
        _ = machine.ask(1, .reading)
        _ = machine.ask(2, .writing)
        #expect(machine.close() == "r1w2")
        #expect(machine.ask(3, .reading) == .resumed(3, .closed))
        #expect(machine.ask(4, .writing) == .resumed(4, .closed))
        #expect(machine.cancel(turn: 1) == "")
        #expect(machine.ask(5, .reading) == .resumed(5, .closed))
        #expect(!machine.endTurn())
        #expect(machine.beginTurn() == .closed)
        #expect(machine.close() == "")
    }

    @Test func `an edge between turns is news, an edge in a turn is not`() {
        let machine = Driver()
        #expect(!machine.isNews(reading: false, writing: true))
        #expect(machine.isNews(reading: true, writing: false))
        #expect(machine.beginTurn() == .unseenInput)
        machine.clearUnseenInput()
        #expect(machine.beginTurn() == .turn(1))
        #expect(!machine.isNews(reading: true, writing: true))
    }

    @Test func `unseen input keeps a turn from ending well until somebody looked`() {
        let machine = Self.opened()
        _ = machine.edge(reading: true)
        #expect(!machine.endTurn())
        machine.clearUnseenInput()
        #expect(machine.endTurn())
        #expect(machine.beginTurn() == .turn(2))
    }

    @Test(arguments: [
        (age: Int64(0), isFresh: true), (ChannelMachine<Int>.freshness, true),
        (ChannelMachine<Int>.freshness + 1, false),
        (1_000_000_000, false), (.max, false), (-1, true),
    ])
    func `a turn begins only a moment after somebody looked`(age: Int64, isFresh: Bool) {
        let machine = Self.opened()
        #expect(machine.endTurn())
        #expect(machine.beginTurn(age: age) == (isFresh ? .turn(2) : .unlooked))
        // A look makes up for it, and finds or finds not.
        if !isFresh { #expect(machine.beginTurn(age: 0) == .turn(2)) }
    }

    @Test func `a fresh look does not make up for an edge`() {
        let machine = Self.opened()
        _ = machine.edge(reading: true)
        #expect(!machine.endTurn())
        #expect(machine.beginTurn(age: 0) == .unseenInput)
    }

    @Test func `the end of input lasts`() {
        let machine = Self.opened()
        #expect(machine.ask(1, .reading) == .waiting)
        #expect(machine.edge(reading: true, inputEnded: true) == "r1")
        #expect(machine.ask(2, .reading) == .resumed(2, .ready))
        #expect(machine.ask(3, .reading) == .resumed(3, .ready))
        #expect(machine.ask(4, .writing) == .waiting)
        #expect(!machine.endTurn())
        #expect(machine.beginTurn() == .unseenInput)
    }

    @Test func `input that a look found stays unseen`() {
        let machine = Self.opened()
        machine.clearUnseenInput()
        machine.keepUnseenInput()
        #expect(!machine.endTurn())
        #expect(machine.beginTurn() == .unseenInput)
    }

    /// Otherwise whoever looks, finds nothing and tries again would do so for ever.
    @Test func `an end that no look finds does not count`() {
        let machine = Self.opened()
        #expect(machine.edge(reading: true, inputEnded: true) == "")
        #expect(!machine.endTurn())
        machine.clearUnseenInput()
        #expect(machine.beginTurn() == .turn(2))
        #expect(machine.ask(1, .reading) == .waiting)
    }

    @Test func `an interrupt or a close counts for more than the end of input`() {
        let machine = Self.opened()
        #expect(machine.edge(reading: true, inputEnded: true) == "")
        #expect(machine.cancel(turn: 1) == "")
        #expect(machine.ask(1, .reading) == .resumed(1, .cancelled))
        #expect(machine.close() == "")
        #expect(machine.ask(2, .reading) == .resumed(2, .closed))
        #expect(machine.beginTurn() == .closed)
    }

    @Test func `clearing unseen input leaves a waiter alone`() {
        let machine = Self.opened()
        _ = machine.ask(1, .reading)
        machine.clearUnseenInput()
        #expect(machine.edge(reading: true) == "r1")
    }

    @Test func `a writer is sent back until the next turn once writing is stopped`() {
        let machine = Self.opened()
        #expect(machine.stopWriting() == nil)
        #expect(machine.ask(1, .writing) == .resumed(1, .cancelled))
        #expect(machine.edge(writing: true) == "")
        #expect(machine.ask(2, .writing) == .resumed(2, .cancelled))
        #expect(machine.ask(3, .reading) == .waiting)
        #expect(machine.edge(reading: true) == "r3")
        #expect(machine.endTurn())
        #expect(machine.beginTurn() == .turn(2))
        #expect(machine.ask(4, .writing) == .waiting)
        #expect(machine.stopWriting() == 4)
        #expect(machine.stopWriting() == nil)
    }
}

extension `Channel machine` {
    @Test func `the channel machine asks to be looked at only when that is sooner than before`() {
        let machine = Self.opened()
        #expect(machine.ask(1, .reading, until: 100) == .scheduled(100))
        #expect(machine.ask(2, .writing, until: 150) == .waiting)
        #expect(machine.edge(reading: true, writing: true) == "r1w2")
        #expect(machine.ask(3, .reading, until: 120) == .waiting)
        #expect(machine.ask(4, .writing, until: 90) == .scheduled(90))
        #expect(machine.look(at: 95) == "w4 next 120")
        #expect(machine.look(at: 120) == "r3 next never")
        #expect(machine.ask(5, .reading, until: 200) == .scheduled(200))
    }

    @Test(arguments: [
        (99, " next 100"), (100, "r1 next 200"), (101, "r1 next 200"), (200, "r1w2 next never"),
    ])
    func `a look wakes waiters at their deadline, not a moment sooner`(now: Int64, expected: String) {
        let machine = Self.opened()
        _ = machine.ask(1, .reading, until: 100)
        _ = machine.ask(2, .writing, until: 200)
        #expect(machine.look(at: now) == expected)
    }

    @Test func `a look too early asks anew for a deadline pushed back`() {
        let machine = Self.opened()
        #expect(machine.ask(1, .reading, until: 100) == .scheduled(100))
        _ = machine.edge(reading: true)
        #expect(machine.ask(2, .reading, until: 300) == .waiting)
        #expect(machine.look(at: 100) == " next 300")
        #expect(machine.look(at: 300) == "r2 next never")
    }

    @Test func `no waiter is woken twice`() {
        let machine = Self.opened()
        _ = machine.ask(1, .reading, until: 100)
        #expect(machine.look(at: 100) == "r1 next never")
        #expect(machine.edge(reading: true) == "")
        #expect(machine.cancel(turn: 1) == "")
        #expect(machine.close() == "")
    }

    @Test func `waking the reader ends the wait underway, and no later one`() {
        let machine = Self.opened()
        #expect(machine.ask(1, .reading, until: 100) == .scheduled(100))
        #expect(machine.ask(2, .writing, until: 200) == .waiting)
        #expect(machine.wakeReader() == 1)
        #expect(machine.ask(3, .reading, until: 300) == .waiting)
        #expect(machine.look(at: 100) == " next 200")
        #expect(machine.look(at: 300) == "r3w2 next never")
    }

    @Test func `waking a reader that does not wait ends its next wait, once, unless there is something to read`() {
        let machine = Self.opened()
        #expect(machine.wakeReader() == nil)
        #expect(machine.wakeReader() == nil)
        #expect(machine.edge(reading: true) == "")
        #expect(machine.ask(1, .reading) == .resumed(1, .ready))
        #expect(machine.ask(2, .writing) == .waiting)
        #expect(machine.ask(3, .reading) == .resumed(3, .woken))
        #expect(machine.ask(4, .reading, until: 100) == .scheduled(100))
        #expect(machine.look(at: 100) == "r4 next never")
    }

    @Test func `waking the reader does not outlive its turn`() {
        let machine = Self.opened()
        #expect(machine.wakeReader() == nil)
        #expect(machine.endTurn())
        #expect(machine.wakeReader() == nil)
        #expect(machine.beginTurn() == .turn(2))
        #expect(machine.ask(1, .reading, until: 100) == .scheduled(100))
    }

    @Test func `waking the reader changes nothing for one that is cancelled or closed`() {
        let machine = Self.opened()
        _ = machine.ask(1, .reading)
        #expect(machine.cancel(turn: 1) == "r1")
        #expect(machine.wakeReader() == nil)
        #expect(machine.ask(2, .reading) == .resumed(2, .cancelled))
        #expect(machine.close() == "")
        #expect(machine.wakeReader() == nil)
        #expect(machine.ask(3, .reading) == .resumed(3, .closed))
    }
}
