import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// The snippets about histograms, word for word.
@Suite(.timeLimit(.minutes(10))) struct `The guide to histograms` {
    nonisolated final class Histogram: Sendable {
        /// The upper bounds of the buckets, in seconds.
        static let bounds = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
        private let counts = Mutex(
            [Int](repeating: 0, count: Histogram.bounds.count + 1))

        func record(_ duration: Duration) {
            let seconds = duration / .seconds(1)
            let index = Self.bounds.firstIndex { seconds <= $0 }
            counts.withLock { $0[index ?? Self.bounds.count] += 1 }
        }

        /// How many durations were in each bucket; the last has no bound.
        var buckets: [Int] { counts.withLock { $0 } }
    }

    @Test func `a hook counts the duration of each request and of each wait for a server`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/a").respond(body: "x").always()
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        let (totals, waits) = (Histogram(), Histogram())
        configuration.hooks.metrics = { task, metrics in
            totals.record(metrics.total)
            for hop in metrics.hops {
                if let wait = hop.duration(of: .firstByte) { waits.record(wait) }
            }
        }

        let client = try HTTPSession(configuration)
        for _ in 0..<3 { try await client.get("a") }
        #expect(totals.buckets.reduce(0, +) == 3 && waits.buckets.reduce(0, +) <= 3)
        totals.record(.seconds(60))
        #expect(totals.buckets.last == 1)
    }
}
