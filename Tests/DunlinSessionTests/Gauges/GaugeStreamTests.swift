import Dunlin
import DunlinRules
import DunlinTesting
import DunlinTypes
import Mocking
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10)))
struct `A stream of gauges` {
    typealias Gauges = HTTPSession.Gauges

    /// Milliseconds at which snapshots are taken, and when the one after them is due.
    @Test(
        arguments: [
            (10, [], nil), (10, [3], 13), (10, [3, 13], 23), (10, [3, 14], 23), (10, [3, 22], 23), (10, [3, 23], 33),
            (10, [3, 1003], 1013), (10, [3, 998], 1003), (10, [3, 998, 1003], 1013), (0, [3], 4), (-5, [3, 4], 5),
        ] as [(Int64, [Int64], Int64?)])
    func `snapshots are due at whole intervals, and those that were missed are made up for once`(
        interval: Int64, taken: [Int64], next: Int64?
    ) {
        var ticks = GaugeTicks(every: .milliseconds(interval))
        for time in taken { ticks.took(at: HTTP.Instant(nanoseconds: time * 1_000_000)) }
        #expect(ticks.next.nanoseconds == next.map { $0 * 1_000_000 } ?? .min)
    }

    @Test(arguments: [Duration.seconds(Int64.max), .nanoseconds(Int64.max)])
    func `a snapshot with an interval of endless length is never due again`(interval: Duration) {
        var ticks = GaugeTicks(every: interval)
        for _ in 0..<3 {
            ticks.took(at: HTTP.Instant(nanoseconds: 7))
            #expect(ticks.next == .never)
        }
        ticks.took(at: .never)
        #expect(ticks.next == .never)
    }

    private static func mocked(_ clock: ManualClock) throws -> Mocked {
        let mock = try Mocked(clock: clock) { try $0.use(clock) }
        mock.transport.otherwise { _ in .never }
        return mock
    }

    private static func next(of stream: AsyncStream<Gauges>) async -> Gauges? {
        for await gauges in stream { return gauges }
        return nil
    }

    /// Begins a request that does not end.
    private static func begin(_ mock: Mocked, running: Int) async throws {
        try mock.session.task("/", as: .bytes).resume()
        try await mock.transport.waitForRequests(running)
    }

    @Test func `the first snapshot comes at once, the others when the clock says so`() async throws {
        let clock = ManualClock()
        let mock = try Self.mocked(clock)
        let stream = mock.session.gauges(every: .seconds(1))
        #expect(await Self.next(of: stream)?.requests == 0)
        for count in 1...3 {
            try await Self.begin(mock, running: count)
            let next = Task { await Self.next(of: stream) }
            try await clock.waitForDeadlines()
            try await clock.advance(by: .milliseconds(999))
            #expect(await mock.session.gauges().requests == count)
            try await clock.advance(by: .milliseconds(1))
            #expect(await next.value?.requests == count)
        }
        await mock.session.shutdown()
        #expect(await Self.next(of: stream) == nil)
    }

    @Test func `an observer that was away gets the newest snapshot, once`() async throws {
        let clock = ManualClock()
        let mock = try Self.mocked(clock)
        let stream = mock.session.gauges(every: .seconds(1))
        #expect(await Self.next(of: stream)?.requests == 0)
        try await clock.advance(by: .seconds(10))
        try await Self.begin(mock, running: 1)
        #expect(await Self.next(of: stream)?.requests == 1)
        let next = Task { await Self.next(of: stream) }
        try await clock.waitForDeadlines()
        try await Self.begin(mock, running: 2)
        try await clock.advance(by: .seconds(1))
        #expect(await next.value?.requests == 2)
        await mock.session.shutdown()
    }

    enum End: CaseIterable {
        case shutdown, restart, task, release
    }

    @Test(arguments: End.allCases) func `a stream ends with its session and with its task, also while it waits`(
        end: End
    ) async throws {
        let clock = ManualClock()
        var session: HTTPSession? = try Self.mocked(clock).session
        let stream = try #require(session?.gauges(every: .seconds(1)))
        let counted = Task {
            var count = 0
            for await _ in stream { count += 1 }
            return count
        }
        try await clock.waitForDeadlines()
        switch end {
        case .shutdown: await session?.shutdown()
        case .restart: await session?.restart()
        case .task: counted.cancel()
        case .release: session = nil
        }
        #expect(await counted.value == 1)
        if end == .restart, let session {
            // The session goes on, and so does a stream that begins now.
            #expect(await Self.next(of: session.gauges(every: .seconds(1))) != nil)
        }
        await session?.shutdown()
    }

    @Test func `a stream of a session that is shut down is empty`() async throws {
        let session = try Self.mocked(ManualClock()).session
        await session.shutdown()
        for await gauges in session.gauges(every: .seconds(1)) { Issue.record("\(gauges)") }
    }

    @Test func `a stream that nobody reads keeps no session`() async throws {
        weak var core: SessionCore?
        let stream: AsyncStream<Gauges>
        do {
            let session = try Self.mocked(ManualClock()).session
            core = session.core
            stream = session.gauges(every: .seconds(1))
        }
        #expect(core == nil)
        for await gauges in stream { Issue.record("\(gauges)") }
    }
}
