import Dunlin
import LedgerRows
import Testing

@testable import DunlinSession

@Suite struct `Metrics of a request` {
    private static func attempt(from start: Int64, to end: Int64) -> HTTP.Hop {
        var attempt = HTTP.Hop()
        attempt.started = HTTP.Instant(nanoseconds: start)
        attempt.ended = HTTP.Instant(nanoseconds: end)
        return attempt
    }

    @Test(.rows("SM-90", "AP-16")) func `metrics hold each attempt in order, and span all of them`() {
        var metrics = HTTPSession.Metrics()
        #expect(metrics.hops.isEmpty)
        #expect(metrics.total == .zero)
        let (first, second, third) = (
            Self.attempt(from: 10, to: 20), Self.attempt(from: 25, to: 40), Self.attempt(from: 50, to: 60)
        )
        metrics.append(first)
        #expect(metrics.hops == [first])
        #expect(metrics.total == .nanoseconds(10))
        metrics.append(second)
        metrics.append(third)
        #expect(metrics.hops == [first, second, third])
        #expect(metrics.total == .nanoseconds(50))
    }

    @Test func `metrics have no hop of what was not sent, whatever was sent before`() {
        let (sent, none) = (Self.attempt(from: 10, to: 20), HTTP.Hop())
        #expect(HTTPSession.Metrics(last: none) == HTTPSession.Metrics())
        #expect(HTTPSession.Metrics(hops: [sent, none]).hops == [sent])
        #expect(HTTPSession.Metrics(hops: [none, sent]).hops == [sent])
        #expect(HTTPSession.Metrics(hops: [none, none]).hops.isEmpty)
    }

    @Test func `the description of metrics draws each hop as a waterfall`() {
        var attempt = Self.attempt(from: 1000, to: 3_001_000)
        attempt.connection = 7
        attempt.peer = .v4(0x7F00_0001, port: 80)
        attempt[.connect] = 999_999
        attempt[.firstByte] = 2_000_000
        attempt[.receive] = 1
        let expected = """
            new connection 7 to 127.0.0.1:80, 3.0 ms
              connect   999 µs     ▇▇▇▇▇▇▇▇▇
              firstByte 2.0 ms     ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇
              receive   0 µs       ▇
            """
        #expect(attempt.waterfall == expected)
        var metrics = HTTPSession.Metrics()
        metrics.append(attempt)
        #expect("\(metrics)" == expected)
    }

    @Test(arguments: [
        (Int64(1_000), "1 µs"), (999_999, "999 µs"), (1_000_000, "1.0 ms"), (999_999_999, "999.9 ms"),
        (1_000_000_000, "1.0 s"), (61_550_000_000, "61.5 s"),
    ])
    func `a waterfall shows durations in units of their size`(nanoseconds: Int64, expected: String) {
        #expect(Self.attempt(from: 0, to: nanoseconds).waterfall == "new connection 0, \(expected)")
    }

    /// A body that still arrives has no end yet.
    @Test func `the metrics of an attempt underway show no negative times and no endless bars`() {
        var attempt = Self.attempt(from: 5_000_000_000, to: 0)
        attempt[.firstByte] = 2_000_000
        var metrics = HTTPSession.Metrics()
        metrics.append(attempt)
        #expect(metrics.total == .zero)
        #expect(metrics.description.count { $0 == "▇" } <= 30)
        #expect(metrics.description.hasPrefix("new connection 0, 0 µs\n"))
    }
}
