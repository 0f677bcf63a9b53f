import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Hold machine` {
    enum Event {
        case hold
        case release
        case end
    }

    private static func time(_ nanoseconds: Int64) -> HTTP.Instant { HTTP.Instant(nanoseconds: nanoseconds) }

    /// Events ten nanoseconds apart, whether each changed anything, and how long it was held by then.
    static let histories: [([Event], [Bool], Int64)] = [
        ([], [], 0),
        ([.hold], [true], 10),
        ([.release], [false], 0),
        ([.hold, .release], [true, true], 10),
        ([.hold, .hold, .release], [true, false, true], 20),
        ([.hold, .release, .release], [true, true, false], 10),
        ([.hold, .release, .hold, .release], [true, true, true, true], 20),
        ([.hold, .end], [true, true], 10),
        ([.end, .hold, .release], [true, false, false], 0),
        ([.hold, .end, .release, .hold], [true, true, false, false], 10),
    ]

    @Test(arguments: histories) func `a second suspend or resume changes nothing, and the suspended time is summed`(
        events: [Event], changes: [Bool], held: Int64
    ) {
        var machine = SuspensionMachine<Int>()
        var now: Int64 = 0
        let seen = events.map { event in
            now += 10
            switch event {
            case .hold: return machine.suspend(at: Self.time(now))
            case .release: return machine.resume(at: Self.time(now)) != nil
            case .end:
                _ = machine.end(at: Self.time(now))
                return true
            }
        }
        #expect(seen == changes)
        #expect(machine.suspendedTime(since: Self.time(0), at: Self.time(now + 10)) == held)
    }

    @Test(
        arguments: [
            (0, 30), (10, 30), (15, 25), (20, 20), (35, 15), (40, 10), (45, 5), (50, 0), (99, 0),
        ] as [(Int64, Int64)])
    func `only the suspended time that fell into a wait is subtracted`(start: Int64, held: Int64) {
        var machine = SuspensionMachine<Int>()
        for (from, to) in [(10, 20), (30, 40)] as [(Int64, Int64)] {
            _ = machine.suspend(at: Self.time(from))
            _ = machine.resume(at: Self.time(to))
        }
        _ = machine.suspend(at: Self.time(40))
        #expect(machine.suspendedTime(since: Self.time(start), at: Self.time(50)) == held)
    }

    @Test func `the sum of suspended time is right for however many suspends`() {
        var machine = SuspensionMachine<Int>()
        for round in 0..<1000 as Range<Int64> {
            _ = machine.suspend(at: Self.time(round * 10))
            _ = machine.resume(at: Self.time(round * 10 + 3))
        }
        #expect(machine.suspendedTime(since: Self.time(0), at: Self.time(10_000)) == 3000)
        #expect(machine.suspendedTime(since: Self.time(9980), at: Self.time(10_000)) == 6)
    }

    @Test(arguments: [false, true]) func `a resume or the end wakes all who wait, once`(atEnd: Bool) {
        var machine = SuspensionMachine<Int>()
        let early = machine.wait(0)
        #expect(early == nil)
        _ = machine.suspend(at: Self.time(0))
        let numbers = [1, 2, 3].map { machine.wait($0) }
        if let second = numbers[1] { machine.leave(second) }
        let woken = atEnd ? machine.end(at: Self.time(1)) : machine.resume(at: Self.time(1)) ?? []
        #expect(woken == [1, 3])
        #expect(machine.end(at: Self.time(2)).isEmpty)
    }
}

extension `Hold machine` {
    @Test func `an observer is told of the next change, and of one that was missed`() {
        var machine = SuspensionMachine<Int>()
        #expect(machine.motion == .moving)
        #expect(machine.observe(1, after: nil) == nil)
        #expect(machine.observe(1, after: .suspended) == nil)
        let number = machine.observe(1, after: .moving)
        #expect(number != nil)
        let gone = machine.observe(2, after: .moving)
        if let gone { machine.leave(gone) }
        _ = machine.suspend(at: Self.time(0))
        #expect(machine.takeObservers() == [1])
        #expect(machine.motion == .suspended)
        _ = machine.observe(3, after: .suspended)
        #expect(machine.resume(at: Self.time(1)) == [3])
        _ = machine.observe(4, after: .moving)
        #expect(machine.end(at: Self.time(2)) == [4])
        #expect(machine.motion == .over)
        #expect(machine.observe(5, after: .moving) == nil)
    }
}

@Suite struct `Tally of a transfer` {
    @Test func `a tally does not count backwards when a body is sent again`() {
        var tally = Tally()
        tally.beginSending(10)
        tally.sent(6)
        tally.beginSending(10)
        tally.sent(4)
        #expect(tally.sent == 6)
        tally.sent(4)
        #expect(tally.sent == 8)
        #expect(tally.sentTotal == 10)
    }

    @Test(arguments: [Int.max, .min, -1, 0], [Int.max, .min, -1, 0])
    func `a tally counts as far as numbers go`(first: Int, second: Int) {
        var tally = Tally()
        tally.beginSending(first)
        tally.sent(first)
        tally.sent(second)
        #expect(tally.sent >= 0)
        tally.beginReceiving(first, isCoded: true, after: second)
        tally.received(upTo: first)
        tally.decoded(upTo: second)
        #expect(tally.received >= 0)
        let (sum, isOver) = first.addingReportingOverflow(second)
        #expect(tally.receivedTotal == (isOver ? (first < 0 ? .min : .max) : sum))
    }

    @Test func `a tally counts only the response that is delivered`() {
        var tally = Tally()
        tally.received(upTo: 100)
        #expect(tally.received == 0)
        tally.beginReceiving(5, isCoded: false)
        tally.received(upTo: 5)
        tally.received(upTo: 3)
        #expect(tally.received == 5)
        #expect(tally.decoded == 5)
    }

    @Test func `a tally counts what several responses bring together, and not what one of them says`() {
        var tally = Tally()
        tally.beginReceiving(90, isCoded: false, after: 10)
        tally.received(upTo: 5)
        tally.receivedTogether(50)
        #expect(tally.received == 15)
        tally.receiveTogether()
        tally.received(upTo: 80)
        #expect(tally.received == 15)
        tally.receivedTogether(40)
        tally.receivedTogether(30)
        #expect(tally.received == 40 && tally.receivedTotal == 100)
        tally.beginReceiving(100, isCoded: false)
        tally.receivedTogether(100)
        tally.received(upTo: 60)
        #expect(tally.received == 60, "one of them brings all of it now")
    }

    @Test func `a tally counts no further than the largest number, whatever a server announces`() {
        var tally = Tally()
        tally.beginReceiving(.max, isCoded: false, after: 100)
        tally.received(upTo: .max)
        #expect(tally.received == .max && tally.receivedTotal == .max)
    }

    @Test func `a tally tells decoded bytes from those on the wire where there is a coding`() {
        var tally = Tally()
        tally.beginReceiving(5, isCoded: true)
        tally.received(upTo: 5)
        tally.decoded(upTo: 50)
        #expect([tally.received, tally.decoded] == [5, 50])
    }
}
