import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// What the metrics of a request tell of a mock: as much as of sockets, but for connections.
@Suite(.timeLimit(.minutes(5))) struct `The hop of a mock` {
    private typealias Outcome = MockTransport.Outcome

    private static func session(
        _ transport: MockTransport, _ clock: ManualClock,
        _ change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        try configuration.use(clock)
        change(&configuration)
        return try HTTPSession(configuration)
    }

    @Test func `each sending has one, with the time it took`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.post, "/a").reply(Outcome.fail(.connectionReset).delayed(.seconds(1)))
            .reply(Outcome.respond(.serviceUnavailable, body: "busy").delayed(.seconds(2)))
            .reply(Outcome.respond(body: "fit").delayed(.seconds(3)))
        let session = try Self.session(transport, clock) { $0.retry = .constant(attempts: 3, every: .seconds(10)) }
        let options = HTTPSession.Options(fields: ["Idempotency-Key": "1"])
        let response = try await clock.skippingWaits {
            try await session.post("a", body: .string("what is sent"), options: options, as: .string)
        }
        let hops = response.metrics.hops
        #expect(hops.map { $0.duration(of: .firstByte) } == [.seconds(1), .seconds(2), .seconds(3)])
        #expect(hops.map(\.total) == [.seconds(1), .seconds(2), .seconds(3)])
        #expect(hops.map(\.bodyBytes) == [0, 4, 3] && hops.map(\.decodedBytes) == [0, 4, 3])
        #expect(Set(hops.map(\.bytesSent)).count == 1 && hops[0].bytesSent > 12)
        #expect(hops.map { $0.bytesReceived > $0.bodyBytes } == [false, true, true])
        #expect(response.metrics.total == .seconds(26))
    }

    @Test func `a body that comes in pieces counts as far as it was read`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/a").reply(
            .stream { index in
                try await clock.sleep(for: .seconds(1))
                return index < 3 ? "abc" : nil
            })
        let session = try Self.session(transport, clock)
        let whole = try await clock.skippingWaits { try await session.get("a", as: .string) }
        let hop = try #require(whole.metrics.hops.last)
        #expect(whole.value == "abcabcabc" && whole.metrics.hops.count == 1)
        #expect(hop.bodyBytes == 9 && hop.duration(of: .receive) == .seconds(4) && hop.total == .seconds(4))
    }

    @Test func `what is sent counts once, in one piece with the head or not`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.post, "/a").respond().respond().respond()
        let session = try Self.session(transport, clock)
        var sent: [Int] = []
        let streamed = RequestBody.replayable(length: 5) {
            AsyncThrowingStream { continuation in
                continuation.yield(Bytes("12345"))
                continuation.finish()
            }
        }
        for body in [RequestBody.bytes("1"), .bytes("12345"), streamed] {
            sent.append(try #require(try await session.post("a", body: body, as: .bytes).metrics.hops.last).bytesSent)
        }
        #expect(sent[1] - sent[0] == 4 && sent[2] == sent[1], "\(sent)")
    }

    @Test func `a redirect has one, and so has an error of one's own`() async throws {
        struct Own: Error {}
        let clock = ManualClock()
        let ends = Mutex<[HTTPSession.Completion]>([])
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/a").respond(302, fields: ["Location": "/b"], body: "moved")
        transport.on(.get, "/b").reply(Outcome.fail(Own()).delayed(.seconds(2)))
        let session = try Self.session(transport, clock) {
            $0.hooks.completed = { end in ends.withLock { $0.append(end) } }
        }
        await #expect(throws: Own.self) {
            try await clock.skippingWaits { _ = try await session.get("a", as: .string) }
        }
        await session.shutdown()
        let hops = try #require(ends.withLock { $0.first }).metrics.hops
        #expect(hops.map(\.bodyBytes) == [5, 0])
        #expect(hops.map { $0.duration(of: .firstByte) } == [nil, .seconds(2)])
    }

    @Test func `a request whose body cannot be made has one, with what was sent`() async throws {
        struct Own: Error {}
        let clock = ManualClock()
        let ends = Mutex<[HTTPSession.Completion]>([])
        let transport = MockTransport(clock: clock)
        transport.on(.post, "/a").respond()
        let session = try Self.session(transport, clock) {
            $0.hooks.completed = { end in ends.withLock { $0.append(end) } }
        }
        let pieces = AsyncThrowingStream<Bytes, any Error> { continuation in
            for _ in 1...3 { continuation.yield("0123456789") }
            continuation.finish(throwing: Own())
        }
        await #expect(throws: Own.self) {
            _ = try await session.post("a", body: .stream(pieces, length: 1000), as: .bytes)
        }
        await session.shutdown()
        let hops = try #require(ends.withLock { $0.first }).metrics.hops
        #expect(hops.count == 1 && hops[0].bytesSent > 30 && hops[0].bytesReceived == 0)
    }

    @Test func `an error without a phase has one, and so has a request whose task is cancelled`() async throws {
        let clock = ManualClock()
        let ends = Mutex<[HTTPSession.Completion]>([])
        let transport = MockTransport(clock: clock)
        let error = NetworkError(.invalidResponse, "made up", requestMayHaveBeenSent: true)
        transport.on(.get, "/a").reply(Outcome.fail(error).delayed(.seconds(1)))
        transport.on(.get, "/b").reply(Outcome.respond().delayed(.seconds(100)))
        let session = try Self.session(transport, clock) {
            $0.hooks.completed = { end in ends.withLock { $0.append(end) } }
        }
        let thrown = await #expect(throws: NetworkError.self) {
            try await clock.skippingWaits { _ = try await session.get("a", as: .bytes) }
        }
        #expect(thrown?.phase == nil && thrown?.hop?.duration(of: .firstByte) == .seconds(1))
        let asking = Task { try await session.get("b", as: .bytes) }
        try await clock.waitForSleepers()
        try await clock.advance(by: .seconds(2))
        asking.cancel()
        await #expect(throws: CancellationError.self) { _ = try await asking.value }
        await session.shutdown()
        let hops = ends.withLock { $0.map(\.metrics.hops) }
        #expect(hops.map { $0.map { $0.duration(of: .firstByte) } } == [[.seconds(1)], [.seconds(2)]])
    }

    enum End: CaseIterable {
        case handle
        case registry
        case total
    }

    @Test(arguments: End.allCases)
    func `a request has one that its handle, the registry or its total limit ends`(end: End) async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/a").reply(Outcome.respond().delayed(.seconds(100)))
        let session = try Self.session(transport, clock) { $0.timeouts.total = .seconds(2) }
        let asking = try session.task("a", as: .bytes)
        asking.resume()
        try await clock.waitForSleepers()
        try await clock.advance(by: .seconds(1))
        switch end {
        case .handle: asking.cancel()
        case .registry: #expect(await session.tasks.cancelAll() == 1)
        case .total: try await clock.advance(by: .seconds(1))
        }
        let error = await #expect(throws: NetworkError.self) { _ = try await asking.value }
        let time = Duration.seconds(end == .total ? 2 : 1)
        #expect(error?.code == (end == .total ? .timedOut : .cancelled))
        #expect(error?.hop?.duration(of: .firstByte) == time && error?.hop?.total == time)
        await session.shutdown()
    }

    @Test func `a request that nobody observes has one in its error too`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/a").reply(Outcome.respond().delayed(.seconds(100)))
        let session = try Self.session(transport, clock)
        let asking = Task { try await session.get("a", as: .bytes) }
        try await clock.waitForSleepers()
        try await clock.advance(by: .seconds(1))
        await session.shutdown()
        let error = await #expect(throws: NetworkError.self) { _ = try await asking.value }
        #expect(error?.code == .cancelled && error?.hop?.duration(of: .firstByte) == .seconds(1))
    }
}
