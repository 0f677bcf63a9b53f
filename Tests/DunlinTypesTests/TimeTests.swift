import DunlinTypes
import Testing

@Suite struct `Timeout limits` {
    @Test(arguments: Timeouts.Limit.allCases)
    func `timeout limits are finite, but for two, unless a limit is taken away`(limit: Timeouts.Limit) {
        var timeouts = Timeouts()
        let start = HTTP.Instant(nanoseconds: 5)
        // The wait for a turn is bounded by how many may wait, until somebody says otherwise.
        let isFinite = limit != .queue && limit != .attempt
        #expect((timeouts[limit] != nil) == isFinite)
        #expect((timeouts.deadline(for: limit, from: start) < .never) == isFinite)
        timeouts[limit] = nil
        #expect(timeouts[limit] == nil)
        #expect(timeouts.deadline(for: limit, from: start) == .never)
        timeouts[limit] = .milliseconds(3)
        #expect(timeouts[limit] == .milliseconds(3))
        #expect(timeouts.deadline(for: limit, from: start) == HTTP.Instant(nanoseconds: 3_000_005))
        for other in Timeouts.Limit.allCases where other != limit { #expect(timeouts[other] == Timeouts()[other]) }
    }

    @Test(arguments: zip(HTTP.Phase.allCases, Timeouts.Limit.allCases))
    func `each phase has a limit of its own, and none has that of the whole`(phase: HTTP.Phase, limit: Timeouts.Limit) {
        #expect(Timeouts.Limit(phase) == limit)
        #expect(limit != .total)
    }

    static let counted = Timeouts(
        pool: .seconds(1), resolve: .seconds(2), connect: .seconds(3), tunnel: .seconds(8), tls: .seconds(4),
        send: .seconds(5), firstByte: .seconds(6), readIdle: .seconds(7), total: nil)

    @Test func `timeout limits take each argument for its limit`() {
        let expected: [Duration?] = (1...8).map { .seconds($0) } + [nil]
        let limits: [Timeouts.Limit] = [.pool, .resolve, .connect, .tls, .send, .firstByte, .readIdle, .tunnel, .total]
        #expect(limits.map { Self.counted[$0] } == expected)
    }

    @Test func `timeout limits have a property each`() {
        var timeouts = Timeouts()
        timeouts.pool = .seconds(1)
        timeouts.resolve = .seconds(2)
        timeouts.connect = .seconds(3)
        timeouts.tunnel = .seconds(8)
        timeouts.tls = .seconds(4)
        timeouts.send = .seconds(5)
        timeouts.firstByte = .seconds(6)
        timeouts.readIdle = .seconds(7)
        timeouts.total = nil
        #expect(timeouts == Self.counted)
        let read = Timeouts(
            pool: timeouts.pool, resolve: timeouts.resolve, connect: timeouts.connect,
            tunnel: timeouts.tunnel, tls: timeouts.tls, send: timeouts.send, firstByte: timeouts.firstByte,
            readIdle: timeouts.readIdle, total: timeouts.total)
        #expect(read == Self.counted)
    }

    static let clamped: [(Duration, Duration?)] = [
        (Duration.seconds(-1), Duration.zero as Duration?), (.zero, .zero), (.seconds(Int64.max), nil),
        (.nanoseconds(Int64.max), nil), (.nanoseconds(Int64.max - 1), .nanoseconds(Int64.max - 1)),
    ]

    @Test(arguments: clamped)
    func `a timeout out of range is clamped`(given: Duration, kept: Duration?) {
        #expect(Timeouts(readIdle: given).readIdle == kept)
    }

    static let moments: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

    @Test(arguments: moments, moments)
    func `a time is reckoned from any moment to any other without overflow`(first: Int64, second: Int64) {
        let (sum, isOver) = first.addingReportingOverflow(second)
        let later = HTTP.Instant(nanoseconds: first).advanced(by: second)
        #expect(later.nanoseconds == (isOver ? (second < 0 ? .min : .max) : sum))
        let (gap, isBeyond) = first.subtractingReportingOverflow(second)
        let duration = HTTP.Instant(nanoseconds: first).duration(since: HTTP.Instant(nanoseconds: second))
        #expect(duration == .nanoseconds(isBeyond ? (second < 0 ? .max : .min) : gap))
        #expect(Duration.seconds(first).clamped >= .nanoseconds(Int64.min))
        #expect(Duration.seconds(first).clamped <= .nanoseconds(Int64.max))
    }

    @Test(arguments: Timeouts.Limit.allCases)
    func `timeouts are equal only if each of them is`(limit: Timeouts.Limit) {
        var other = Timeouts()
        #expect(other == Timeouts())
        #expect(other.hashValue == Timeouts().hashValue)
        other[limit] = .nanoseconds(1)
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
        #expect(HTTP.Instant(nanoseconds: start).advanced(by: duration) == HTTP.Instant(nanoseconds: expected))
    }

    @Test func `monotonic time is ordered, and tells how long ago a moment was`() {
        let early = HTTP.Instant(nanoseconds: 3)
        let late = HTTP.Instant(nanoseconds: 10)
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
        attempt.started = HTTP.Instant(nanoseconds: 100)
        attempt.ended = attempt.started
        for each in HTTP.Phase.allCases { #expect(attempt.duration(of: each) == nil) }
        attempt[phase] = 42
        #expect(attempt[phase] == 42)
        #expect(attempt.duration(of: phase) == .nanoseconds(42))
        for other in HTTP.Phase.allCases where other != phase { #expect(attempt[other] == 0) }
    }

    @Test func `an attempt counts its whole span as total`() {
        var attempt = HTTP.Hop()
        attempt.started = HTTP.Instant(nanoseconds: 100)
        #expect(attempt.total == .zero)
        attempt.ended = HTTP.Instant(nanoseconds: 350)
        #expect(attempt.total == .nanoseconds(250))
        attempt.ended = attempt.started.advanced(by: 7)
        #expect(attempt.total == .nanoseconds(7))
    }
}

@Suite struct `An error of a limit` {
    @Test(
        arguments: [
            (
                .send, .total, .seconds(5), .seconds(6),
                " (phase send, the total limit of 5.0 s exceeded after 6.0 s)"
            ),
            (.receive, .readIdle, .seconds(5), nil, " (phase receive, the readIdle limit of 5.0 s exceeded)"),
            (.pool, .total, nil, .seconds(6), " (phase pool, the total limit exceeded after 6.0 s)"),
            (nil, .total, nil, nil, " (the total limit exceeded)"),
            (.connect, nil, nil, .seconds(6), " (phase connect, after 6.0 s)"),
            (.connect, nil, nil, nil, " (phase connect)"), (nil, nil, nil, .seconds(6), ""),
        ] as [(HTTP.Phase?, Timeouts.Limit?, Duration?, Duration?, String)])
    func `an error of a limit says where the request was, and which limit it exceeded`(
        phase: HTTP.Phase?, exceeded: Timeouts.Limit?, limit: Duration?, elapsed: Duration?, expected: String
    ) {
        let error = NetworkError(
            .timedOut, "too slow", phase: phase, exceeding: exceeded, limit: limit, elapsed: elapsed)
        #expect("\(error)" == "timedOut: too slow" + expected)
        #expect(error.phase == phase && error.exceeded == exceeded)
    }
}
