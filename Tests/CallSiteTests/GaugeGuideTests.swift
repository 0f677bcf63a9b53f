import Dunlin
import DunlinTesting
import Foundation
import Testing

/// The snippets on gauges, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guide to gauges` {
    private nonisolated final class Log: Sendable {
        private let (lines, end) = AsyncStream<String>.makeStream()

        func info(_ line: String) { end.yield(line) }

        func next() async -> String? {
            for await line in lines { return line }
            return nil
        }
    }

    @Test func `the examples about tables of gauges in a log run as written`() async throws {
        let (logger, clock) = (Log(), ManualClock())
        let client = try HTTPSession(baseURL: "https://api.test") {
            $0.transport = MockTransport()
            try $0.use(clock)
        }
        let log = Task {
            for await gauges in client.gauges(every: .seconds(10)) {
                logger.info("\(gauges)")
            }
        }

        var gauges = HTTPSession.Gauges()
        (gauges.requests, gauges.queued, gauges.pool) = (12, 3, .init())
        var origin = HTTP.ConnectionGauges()
        (origin.open, origin.idle, origin.opened, origin.reuses, origin.inConnect) = (4, 1, 9, 310, 1)
        gauges.pool?.origins["http://api"] = origin
        #expect(
            isShown(
                gauges,
                as: """
                    12 requests, 3 of them queued
                    origin     open idle waiting opened reuses failed resolve connect proxy tls
                    http://api    4    1       0      9    310      0       0       1     0   0
                    """), "\(gauges)")

        #expect(await logger.next()?.hasPrefix("0 requests") == true)
        try await clock.waitForDeadlines()
        try await clock.advance(by: .seconds(10))
        #expect(await logger.next()?.hasPrefix("0 requests") == true)
        await client.shutdown()
        await log.value
    }

    @Test func `the examples about a page for Prometheus run as written`() throws {
        func page(_ gauges: HTTPSession.Gauges) -> String {
            typealias Connections = HTTP.ConnectionGauges
            let values: KeyValuePairs<String, KeyPath<Connections, Int>> = [
                "open": \.open, "idle": \.idle, "waiting": \.waiting,
                "opened_total": \.opened, "failed_total": \.failed,
            ]
            func label(_ text: String) -> String {
                text.map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
            }
            var origins = gauges.pool?.origins ?? [:]
            origins["others"] = gauges.pool?.others
            var page = "http_requests \(gauges.requests)\n"
            for (name, value) in values {
                for (origin, numbers) in origins {
                    page += "http_connections_\(name){origin=\"\(label(origin))\"} "
                    page += "\(numbers[keyPath: value])\n"
                }
            }
            return page
        }

        var gauges = HTTPSession.Gauges()
        #expect(page(gauges) == "http_requests 0\n")
        gauges.requests = 2
        gauges.pool = .init()
        gauges.pool?.others.failed = 3
        gauges.pool?.origins["https://api.test"] = .init()
        gauges.pool?.origins["https://api.test"]?.open = 1
        let lines = page(gauges).split(separator: "\n")
        #expect(lines.count == 11 && lines[0] == "http_requests 2")
        #expect(lines.contains("http_connections_open{origin=\"https://api.test\"} 1"))
        #expect(lines.contains("http_connections_failed_total{origin=\"others\"} 3"))
        gauges.pool?.origins = [#"http://a via unix:/a"b\c"#: .init()]
        #expect(page(gauges).contains(#"{origin="http://a via unix:/a\"b\\c"} 0"#))
        // All lines of one metric stand together.
        #expect(lines[1...2].allSatisfy { $0.hasPrefix("http_connections_open{") })
        // The same snapshot as JSON, for a page of one's own.
        #expect(
            try HTTP.JSON.standard.decode(HTTPSession.Gauges.self, from: Bytes(JSONEncoder().encode(gauges))) == gauges)
    }
}
