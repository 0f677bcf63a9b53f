import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A request that takes too long` {
    /// One limit is short and all others are longer, so the error must name the right one.
    private static func timeouts(_ short: Timeouts.Limit, _ limit: Duration) -> Timeouts {
        var timeouts = Timeouts()
        for limit in Timeouts.Limit.allCases { timeouts[limit] = .seconds(1000) }
        timeouts[short] = limit
        return timeouts
    }

    @Test(.rows("RQ-53"), arguments: Predicament.allCases)
    func `a request that takes too long fails with the phase it was in`(predicament: Predicament) async throws {
        try await Self.run(predicament, limiting: Timeouts.Limit(predicament.phase))
    }

    @Test(arguments: Predicament.allCases)
    func `a request fails by its total limit in any phase`(predicament: Predicament) async throws {
        try await Self.run(predicament, limiting: .total)
    }

    private static func run(_ predicament: Predicament, limiting exceeded: Timeouts.Limit) async throws {
        guard predicament.isPossible else { return }
        let clock = ManualClock()
        let limit = Duration.seconds(5)
        try await Stage.with(
            server: predicament.server, clock: clock, tolerating: true,
            configure: {
                predicament.configure(&$0)
                $0.timeouts = Self.timeouts(exceeded, limit)
            }
        ) { (stage: Stage) async throws in
            predicament.prepare(stage)
            let occupant = try await predicament.occupy(stage)
            let task = Task { try await predicament.request(stage) }
            try await predicament.waitUntilStuck(stage)
            try await clock.waitForDeadlines(predicament == .pool ? 2 : 1)
            // What the server has sent may be read after the first move only, and its silence counts from then.
            let left = occupant == nil ? 0 : 1
            try await clock.advance(by: limit + .seconds(1), until: "it ends") {
                await stage.session.tasks.count <= left
            }
            let error = try await NetworkError.thrown { try await task.value }
            #expect(error.code == .timedOut)
            #expect(error.phase == predicament.phase)
            #expect(error.exceeded == exceeded)
            #expect(error.limit == limit)
            #expect(try #require(error.elapsed) >= limit)
            #expect(error.requestMayHaveBeenSent == ![.pool, .resolve, .connect, .tls].contains(predicament.phase))
            occupant?.cancel()
            _ = await occupant?.result
            #expect(await stage.session.tasks.count == 0)
        }
    }

    @Test func `a request is not timed out while bytes keep coming`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, configure: { $0.timeouts.readIdle = .seconds(4) }) {
            (stage: Stage) async throws in
            let gates = (0..<3).map { _ in LoopbackServer.Gate() }
            var steps: [LoopbackServer.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n")]
            for gate in gates { steps += [.send("0123456789"), .waitForSignal(gate)] }
            stage.server.enqueue(LoopbackServer.Reply(steps))
            let task = try stage.session.task("drip", as: .string)
            task.resume()
            for (index, gate) in gates.enumerated() {
                try await stage.eventually("piece \(index)") { task.downloaded.wireBytes == 10 * (index + 1) }
                // The last piece ends the body.
                if index < 2 { try await clock.advance(by: .seconds(3)) }
                gate.open()
            }
            #expect(try await task.value == "012345678901234567890123456789")
        }
    }

    @Test func `a request inherits the deadline of the work it is part of`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            stage.server.enqueue([.stall])
            let session = stage.session
            let work = Task {
                try await session.withTimeout(.seconds(3)) {
                    try await session.withTimeout(.seconds(1000)) {
                        async let nested = session.get("stalls", as: .bytes)
                        return try await nested.value
                    }
                }
            }
            _ = try await stage.server.waitForRequests(1)
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: .seconds(4))
            let error = try await NetworkError.thrown { _ = try await work.value }
            #expect(error.code == .timedOut)
            #expect(error.phase == .firstByte)
            #expect(error.exceeded == .total && error.limit == .seconds(3))
            try await stage.expectHealthy()
        }
    }

    @Test func `a request whose deadline has passed is refused before it is sent`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let error = try await NetworkError.thrown {
                try await stage.session.withTimeout(.zero) { _ = try await stage.session.get("x", as: .bytes) }
            }
            #expect(error.code == .timedOut)
            #expect(error.phase == nil && error.exceeded == .total && error.limit == .zero)
            #expect(error.isSafeToRetry && !error.requestMayHaveBeenSent)
            #expect(stage.server.connectionCount == 0)
            try await stage.expectHealthy()
        }
    }

    @Test(.rows("RQ-50")) func `a request can have a time limit of its own`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue([.stall])
            let options = HTTPSession.Options(timeouts: .init(firstByte: .milliseconds(50)))
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get("x", options: options, as: .bytes)
            }
            #expect(error.phase == .firstByte)
            try await stage.expectHealthy()
        }
    }
}
