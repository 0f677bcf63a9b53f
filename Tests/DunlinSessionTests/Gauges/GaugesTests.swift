import Dunlin
import DunlinTesting
import DunlinTypes
import Foundation
import Mocking
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10)))
struct `Gauges of a session` {
    typealias Gauges = HTTPSession.Gauges

    @Test func `over a custom transport there is no pool, and the rest is counted`() async throws {
        let clock = ManualClock()
        let mock = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.queue.running = 2
        }
        #expect(await mock.session.gauges() == Gauges())
        mock.transport.otherwise { _ in .never }
        let tasks = try (0..<5).map { _ in try mock.session.task("/", as: .bytes) }
        for task in tasks.prefix(4) { task.resume() }
        try await mock.transport.waitForRequests(2)
        try await eventually("two have their turn, and two wait for it") {
            let gauges = await mock.session.gauges()
            // The fifth is suspended.
            return gauges.requests == 5 && gauges.queued == 2
        }
        let gauges = await mock.session.gauges()
        #expect(gauges.pool == nil && gauges.retriesLeft.isEmpty)
        #expect("\(gauges)" == "5 requests, 2 of them queued\nno connections of its own")
        await mock.session.shutdown()
        #expect(await mock.session.gauges() == Gauges())
    }

    @Test func `what is left of a retry budget is told by origin, and comes back with time`() async throws {
        let clock = ManualClock()
        let mock = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.retry = .constant(attempts: 3, every: .milliseconds(1))
        }
        mock.transport.otherwise { _ in .fail(.connectionReset) }
        let floor = 10
        for left in [floor - 2, floor - 4] {
            _ = await clock.skippingWaitsOrNothing { try await mock.session.get("/", as: .bytes) }
            #expect(await mock.session.gauges().retriesLeft == ["http://api.test": left])
        }
        try await clock.advance(by: .seconds(3))
        #expect(await mock.session.gauges().retriesLeft == ["http://api.test": floor - 1])
        try await clock.advance(by: .seconds(100))
        let gauges = await mock.session.gauges()
        #expect(gauges.retriesLeft == ["http://api.test": floor])
        #expect("\(gauges)".hasSuffix("\n10 retries left for http://api.test"))
    }

    // MARK: - What is printed and encoded

    private static func connections(_ open: Int, _ idle: Int, opened: Int, tls: Int = 0) -> HTTP.ConnectionGauges {
        var gauges = HTTP.ConnectionGauges()
        (gauges.open, gauges.idle, gauges.opened, gauges.inTLS) = (open, idle, opened, tls)
        return gauges
    }

    private static let example: Gauges = {
        var gauges = Gauges()
        (gauges.requests, gauges.queued) = (12, 3)
        var pool = Gauges.Pool()
        pool.origins["https://api.test"] = connections(4, 1, opened: 12_345, tls: 1)
        pool.origins["http://b.test:8080"] = connections(0, 0, opened: 1)
        pool.others.failed = 7
        gauges.pool = pool
        gauges.retriesLeft = ["https://api.test": 9]
        return gauges
    }()

    @Test func `a snapshot prints as a table`() {
        #expect(
            "\(Self.example)" == """
                12 requests, 3 of them queued
                origin             open idle waiting opened reuses failed resolve connect proxy tls
                http://b.test:8080    0    0       0      1      0      0       0       0     0   0
                https://api.test      4    1       0  12345      0      0       0       0     0   1
                others                0    0       0      0      0      7       0       0     0   0
                total                 4    1       0  12346      0      7       0       0     0   1
                9 retries left for https://api.test
                """)
        #expect(
            "\(Self.connections(2, 1, opened: 3))"
                == "open 2, idle 1, waiting 0, opened 3, reuses 0, failed 0, resolve 0, connect 0, proxy 0, tls 0")
    }

    @Test func `a table of gauges has a line for the sum unless there is just one origin`() {
        var gauges = Gauges()
        gauges.pool = Gauges.Pool()
        #expect("\(gauges)".split(separator: "\n").map { $0.prefix(6) } == ["0 requ", "origin", "total "])
        gauges.pool?.origins["http://a"] = HTTP.ConnectionGauges()
        #expect("\(gauges)".split(separator: "\n").map { $0.prefix(6) } == ["0 requ", "origin", "http:/"])
    }

    @Test(arguments: [example, Gauges()]) func `a snapshot survives the way through JSON`(gauges: Gauges) throws {
        let data = try JSONEncoder().encode(gauges)
        #expect(try JSONDecoder().decode(Gauges.self, from: data) == gauges)
    }

    @Test func `JSON has the names that a snapshot has`() throws {
        let data = try JSONEncoder().encode(Self.example)
        let json = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(Set(json.keys) == ["requests", "queued", "coalesced", "pool", "retriesLeft"])
        let pool = try #require(json["pool"] as? [String: Any])
        #expect(Set(pool.keys) == ["origins", "others"])
        let origin = try #require((pool["origins"] as? [String: Any])?["https://api.test"] as? [String: Int])
        let names = [
            "open", "idle", "waiting", "opened", "reuses", "failed", "inResolve", "inConnect", "inProxy", "inTLS",
        ]
        #expect(Set(origin.keys) == Set(names) && origin["opened"] == 12_345)
    }
}

extension ManualClock {
    /// Runs what is expected to fail.
    fileprivate func skippingWaitsOrNothing<Value: Sendable>(_ work: () async throws -> Value) async -> Value? {
        try? await skippingWaits(work)
    }
}
