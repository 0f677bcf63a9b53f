import DunlinTypes
import Testing

@Suite struct `Timeout limits` {
    @Test(arguments: HTTP.Phase.allCases)
    func `timeout limits are finite unless a limit is taken away`(phase: HTTP.Phase) {
        var timeouts = Timeouts()
        let start = MonotonicTime(nanoseconds: 5)
        #expect(timeouts[phase] != nil)
        #expect(timeouts.deadline(for: phase, from: start) < .never)
        timeouts[phase] = nil
        #expect(timeouts[phase] == nil)
        #expect(timeouts.deadline(for: phase, from: start) == .never)
        timeouts[phase] = .milliseconds(3)
        #expect(timeouts[phase] == .milliseconds(3))
        #expect(timeouts.deadline(for: phase, from: start) == MonotonicTime(nanoseconds: 3_000_005))
        for other in HTTP.Phase.allCases where other != phase { #expect(timeouts[other] == Timeouts()[other]) }
    }

    static let counted = Timeouts(
        pool: .seconds(1), resolve: .seconds(2), connect: .seconds(3), tls: .seconds(4), send: .seconds(5),
        firstByte: .seconds(6), readIdle: .seconds(7), total: nil)

    @Test func `timeout limits take each argument for its phase`() {
        let expected: [Duration?] = (1...7).map { .seconds($0) } + [nil]
        let phases: [HTTP.Phase] = [.pool, .resolve, .connect, .tls, .send, .firstByte, .receive, .total]
        #expect(phases.map { Self.counted[$0] } == expected)
    }

    @Test func `timeout limits have a property for each phase`() {
        var timeouts = Timeouts()
        timeouts.pool = .seconds(1)
        timeouts.resolve = .seconds(2)
        timeouts.connect = .seconds(3)
        timeouts.tls = .seconds(4)
        timeouts.send = .seconds(5)
        timeouts.firstByte = .seconds(6)
        timeouts.readIdle = .seconds(7)
        timeouts.total = nil
        #expect(timeouts == Self.counted)
        let read = Timeouts(
            pool: timeouts.pool, resolve: timeouts.resolve, connect: timeouts.connect, tls: timeouts.tls,
            send: timeouts.send, firstByte: timeouts.firstByte, readIdle: timeouts.readIdle, total: timeouts.total)
        #expect(read == Self.counted)
    }

    static let clamped: [(Duration, Duration?)] = [
        (Duration.seconds(-1), Duration.zero as Duration?), (.zero, .zero), (.seconds(Int64.max), nil),
        (.nanoseconds(Int64.max), nil), (.nanoseconds(Int64.max - 1), .nanoseconds(Int64.max - 1)),
    ]

    @Test(arguments: clamped)
    func `a timeout limit without a meaning is clamped`(given: Duration, kept: Duration?) {
        #expect(Timeouts(readIdle: given).readIdle == kept)
    }

    static let moments: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

    @Test(arguments: moments, moments)
    func `a time is reckoned from any moment to any other without overflow`(first: Int64, second: Int64) {
        let (sum, isOver) = first.addingReportingOverflow(second)
        let later = MonotonicTime(nanoseconds: first).advanced(by: second)
        #expect(later.nanoseconds == (isOver ? (second < 0 ? .min : .max) : sum))
        let (gap, isBeyond) = first.subtractingReportingOverflow(second)
        let duration = MonotonicTime(nanoseconds: first).duration(since: MonotonicTime(nanoseconds: second))
        #expect(duration == .nanoseconds(isBeyond ? (second < 0 ? .max : .min) : gap))
        #expect(Duration.seconds(first).clamped >= .nanoseconds(Int64.min))
        #expect(Duration.seconds(first).clamped <= .nanoseconds(Int64.max))
    }

    @Test(arguments: HTTP.Phase.allCases)
    func `timeout limits are equal only if every limit is`(phase: HTTP.Phase) {
        var other = Timeouts()
        #expect(other == Timeouts())
        #expect(other.hashValue == Timeouts().hashValue)
        other[phase] = .nanoseconds(1)
        #expect(other != Timeouts())
    }
}

@Suite struct `Durations in nanoseconds` {
    static let edges: [(Duration, Int64)] = [
        (Duration.zero, 0),
        (.nanoseconds(1), 1),
        (.nanoseconds(-1), -1),
        (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
        (Duration(secondsComponent: 0, attosecondsComponent: -999_999_999), 0),
        (.seconds(2) - .nanoseconds(1), 1_999_999_999),
        (.seconds(9_223_372_036), 9_223_372_036_000_000_000),
        (.nanoseconds(Int64.max), Int64.max),
        (.nanoseconds(Int64.max) + .nanoseconds(1), Int64.max),
        (.nanoseconds(Int64.min), Int64.min),
        (.nanoseconds(Int64.min) - .nanoseconds(1), Int64.min),
        (.seconds(9_223_372_037), Int64.max),
        (.seconds(-9_223_372_037), Int64.min),
        (.seconds(Int64.max), Int64.max),
        (.seconds(Int64.min), Int64.min),
    ]

    @Test(arguments: edges)
    func `durations in nanoseconds are whole and clamped`(duration: Duration, expected: Int64) {
        #expect(duration.clampedNanoseconds == expected)
    }
}

@Suite struct `Monotonic time` {
    static let moves: [(Int64, Int64, Int64)] = [
        (5, 7, 12), (5, 0, 5), (5, -3, 2), (Int64.max - 1, 1, Int64.max), (Int64.max - 1, 2, Int64.max),
        (5, Int64.max, Int64.max), (Int64.max, Int64.max, Int64.max),
    ]

    @Test(arguments: moves)
    func `monotonic time moves ahead, never beyond never`(start: Int64, by duration: Int64, expected: Int64) {
        #expect(MonotonicTime(nanoseconds: start).advanced(by: duration) == MonotonicTime(nanoseconds: expected))
    }

    @Test func `monotonic time is ordered, and tells how long ago a moment was`() {
        let early = MonotonicTime(nanoseconds: 3)
        let late = MonotonicTime(nanoseconds: 10)
        #expect(early < late)
        #expect(!(late < early))
        #expect(late < .never)
        #expect(late.duration(since: early) == .nanoseconds(7))
    }
}

@Suite struct `Attempt times` {
    @Test(arguments: HTTP.Phase.allCases)
    func `an attempt keeps the time of each phase apart`(phase: HTTP.Phase) {
        var attempt = HTTP.Hop()
        attempt.started = MonotonicTime(nanoseconds: 100)
        attempt.ended = attempt.started
        for each in HTTP.Phase.allCases { #expect(attempt.duration(of: each) == nil) }
        attempt[phase] = 42
        #expect(attempt[phase] == 42)
        #expect(attempt.duration(of: phase) == .nanoseconds(42))
        for other in HTTP.Phase.allCases where other != phase { #expect(attempt[other] == 0) }
    }

    @Test func `an attempt counts its whole span as total`() {
        var attempt = HTTP.Hop()
        attempt.started = MonotonicTime(nanoseconds: 100)
        #expect(attempt.duration(of: .total) == nil)
        attempt.ended = MonotonicTime(nanoseconds: 350)
        #expect(attempt.duration(of: .total) == .nanoseconds(250))
        attempt[.total] = 7
        #expect(attempt.ended == MonotonicTime(nanoseconds: 107))
    }
}
