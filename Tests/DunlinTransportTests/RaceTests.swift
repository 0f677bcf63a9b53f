import DunlinReactor
import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `Race of the user's work` {
    private struct Broken: Error {}

    /// Never ends by itself, and at once when cancelled.
    private static func endless() async throws -> Int {
        let silent = AsyncStream<Int>.makeStream()
        for await _ in silent.stream {}
        silent.continuation.finish()
        throw CancellationError()
    }

    @Test func `a race hands on what the work gave or threw, off the loop`() async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let value = try await withTaskExecutorPreference(reactor) {
            try await Race.run(until: .never, Cancellation(), on: reactor) { reactor.isCurrent ? 0 : 42 }
        }
        #expect(value == 42)
        await #expect(throws: Broken.self) {
            try await Race.run(until: .never, Cancellation(), on: reactor) { throw Broken() }
        }
        #expect(reactor.ledger.openTimers == 0)
    }

    @Test func `a race of endless work ends at the deadline`() async throws {
        let time = ManualTime()
        let reactor = try Reactor(time: .manual(time))
        defer { reactor.retire() }
        await #expect(throws: Race.Lost.timedOut) {
            async let outcome = Race.run(until: time.now.advanced(by: 5), Cancellation(), on: reactor, Self.endless)
            try await eventually("its timer", following: Turns(of: reactor)) { reactor.ledger.openTimers > 0 }
            time.advance(by: 5)
            _ = try await outcome
        }
        #expect(reactor.ledger.openTimers == 0)
    }

    @Test(arguments: [true, false])
    func `a race of endless work ends with a cancel, also one before it began`(isEarly: Bool) async throws {
        let reactor = try Reactor()
        defer { reactor.retire() }
        let interrupt = Cancellation()
        if isEarly { interrupt.cancel(.handle) }
        await #expect(throws: Race.Lost.cancelled) {
            async let outcome = Race.run(until: .never, interrupt, on: reactor, Self.endless)
            await Task.yield()
            interrupt.cancel(.handle)
            _ = try await outcome
        }
    }
}

@Suite struct `Exchange clock` {
    @Test(arguments: [(50, 1000, 150), (50, 120, 120), (nil, 500, 500), (nil, .max, .max)] as [(Int64?, Int64, Int64)])
    func `the whole request's limit counts above each phase's`(limit: Int64?, total: Int64, expected: Int64) throws {
        let reactor = try Reactor(time: .manual(ManualTime()))
        defer { reactor.retire() }
        let request = TransportRequest(
            head: RequestHead(method: .get, origin: HTTP.Origin(scheme: .http, host: "a"), target: "/"),
            timeouts: Timeouts(readIdle: limit.map { .nanoseconds($0) }), deadline: HTTP.Instant(nanoseconds: total))
        let clock = ExchangeClock(request, nil, on: reactor)
        let deadline = clock.deadline(for: .receive, from: HTTP.Instant(nanoseconds: 100))
        #expect(deadline == HTTP.Instant(nanoseconds: expected))
        let exceeded = clock.exceeded(.receive, at: HTTP.Instant(nanoseconds: 300)).limit
        #expect(exceeded == (total <= 300 ? .total : .readIdle))
    }
}
