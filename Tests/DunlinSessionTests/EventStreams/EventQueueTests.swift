import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `A stream of events in a session with a queue` {
    private static let type: Fields = ["Content-Type": "text/event-stream"]

    /// A session that runs one request at a time. `x` is a stream that ends after one event, and is then over.
    private static func mocked(
        _ clock: ManualClock, _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.queue = .init(running: 1)
            try change(&$0)
        }
        mocked.transport.on(.get, "/x").respond(fields: type, body: "data: a\n\n").thenRespond(.noContent)
        mocked.transport.on(.get, "/other").respond(body: "other").always()
        return mocked
    }

    private static func reading(_ session: HTTPSession) -> Task<Int, any Error> {
        Task {
            var count = 0
            for try await _ in session.events("x") { count += 1 }
            return count
        }
    }

    @Test func `a stream that waits to reconnect keeps no turn from others`() async throws {
        let clock = ManualClock()
        let mocked = try Self.mocked(clock)
        let reading = Self.reading(mocked.session)
        try await clock.waitForRetries()
        #expect(try await mocked.session.get("other", as: .string).value == "other")
        #expect(mocked.transport.requests.map(\.target) == ["/x", "/other"])
        try await clock.advance(by: .seconds(1000))
        #expect(try await reading.value == 1 && mocked.transport.requests.count == 3)
        await mocked.session.shutdown()
    }

    @Test func `a stream that has waited to reconnect takes its turn after those before it`() async throws {
        let clock = ManualClock()
        let mocked = try Self.mocked(clock)
        let gate = AsyncStream.makeStream(of: Void.self)
        mocked.transport.otherwise { _ in
            for await _ in gate.stream { break }
            return .respond(body: "held")
        }
        let reading = Self.reading(mocked.session)
        try await clock.waitForRetries()
        async let held = mocked.session.get("held", as: .string).value
        try await mocked.transport.waitForRequests(2)
        try await clock.advance(by: .seconds(5))
        try await eventually("the stream is queued") { await mocked.session.gauges().queued == 1 }
        #expect(mocked.transport.requests.map(\.target) == ["/x", "/held"])
        gate.continuation.yield()
        #expect(try await held == "held")
        #expect(try await reading.value == 1)
        #expect(mocked.transport.requests.map(\.target) == ["/x", "/held", "/x"])
        await mocked.session.shutdown()
    }

    @Test func `the hook that is told of a reconnection may make requests of its own`() async throws {
        let clock = ManualClock()
        let session = Mutex<HTTPSession?>(nil)
        let mocked = try Self.mocked(clock) {
            $0.hooks.reconnecting = { _, _ in
                guard let session = session.withLock(\.self) else { return }
                _ = try? await session.get("other", as: .string)
            }
        }
        session.withLock { $0 = mocked.session }
        defer { session.withLock { $0 = nil } }
        let events = mocked.session.events("x")
        let count = try await clock.skippingWaits {
            var count = 0
            for try await _ in events { count += 1 }
            return count
        }
        #expect(count == 1)
        #expect(mocked.transport.requests.map(\.target) == ["/x", "/other", "/x"])
        await mocked.session.shutdown()
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The attempts of a stream of events` {
    private static let fields: Fields = ["Content-Type": "text/event-stream", "Cache-Control": "max-age=1000"]

    @Test func `no stored or shared response is an attempt`() async throws {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            $0.cache = HTTPSession.Cache()
            $0.coalescing = .init(isOn: true)
        }
        mocked.transport.on(.get, "/x").respond(fields: Self.fields, body: "data: a\n\n").always()
        for _ in 0..<2 { _ = try await mocked.session.get("x", as: .bytes) }
        #expect(mocked.transport.requests.count == 1, "others are served from the cache")
        let settings = HTTPSession.EventSettings(reconnects: false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { for try await _ in mocked.session.events("x", settings: settings) {} }
            }
            try await group.waitForAll()
        }
        #expect(mocked.transport.requests.count == 3)
        await mocked.session.shutdown()
    }

    @Test(arguments: [true, false])
    func `each attempt has metrics of its own, without the wait before it`(isQueued: Bool) async throws {
        let clock = ManualClock()
        let told = Mutex<[HTTPSession.Metrics]>([])
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            if isQueued { $0.queue = .init(running: 1) }
            $0.hooks.metrics = { _, metrics in told.withLock { $0.append(metrics) } }
        }
        mocked.transport.on(.get, "/x").respond(fields: Self.fields, body: "retry: 100000\ndata: a\n\n")
            .thenRespond(.noContent)
        let stream = mocked.session.events("x")
        let start = clock.now
        try await clock.skippingWaits { for try await _ in stream {} }
        #expect(start.duration(to: clock.now) >= .seconds(100))
        await mocked.session.shutdown()
        let all = told.withLock { $0 }
        #expect(all.count == 2 && all.allSatisfy { $0.hops.count == 1 })
        for hop in all.flatMap(\.hops) { #expect(hop.total < .seconds(1), "\(hop)") }
    }
}
