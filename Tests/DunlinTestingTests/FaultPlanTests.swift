import Dunlin
import DunlinWire
import Testing

@testable import DunlinTesting

@Suite(.timeLimit(.minutes(10))) struct FaultPlanTests {
    /// What became of each request of a short session.
    private func outcomes(_ plan: FaultPlan, count: Int = 20) async throws -> [String] {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.apply(plan) { request in .respond(body: Bytes("for \(request.target)")) }
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        try configuration.use(clock)
        let session = try HTTPSession(configuration)
        return try await clock.skippingWaits {
            var outcomes: [String] = []
            for number in 0..<count {
                do {
                    outcomes.append(try await session.get("item/\(number)", as: .string).value)
                } catch let error as NetworkError {
                    outcomes.append("\(error.code) in \(error.phase?.rawValue ?? "no phase")")
                }
            }
            return outcomes
        }
    }

    @Test func `the same seed gives the same faults, another seed others`() {
        let faults = (0..<2).map { _ in (0..<200).map { FaultPlan(seed: 7).fault(for: $0) } }
        #expect(faults[0] == faults[1])
        #expect(faults[0] != (0..<200).map { FaultPlan(seed: 8).fault(for: $0) })
        let asked = FaultPlan(seed: 7).fault(for: 3, of: "GET /a")
        #expect(asked == FaultPlan(seed: 7).fault(for: 3, of: "GET /a"))
    }

    @Test func `faults do not change from one toolchain to the next`() {
        let plan = FaultPlan(seed: 1, weights: .always)
        #expect(
            (0..<6).map { plan.fault(for: $0) } == [
                .truncated(after: 45), .reset(after: 1), .truncated(after: 161), .truncated(after: 288),
                .dripping(pieces: 18, every: .nanoseconds(1_258_889)), .delayed(.nanoseconds(5_276_985)),
            ])
    }

    @Test func `weights decide what comes, and a weight of zero keeps it away`() {
        var weights = FaultPlan.Weights()
        (weights.stalled, weights.none) = (0, 900)
        let faults = (0..<10_000).map { FaultPlan(seed: 3, weights: weights).fault(for: $0) }
        #expect((9000...9900).contains(faults.count { $0 == .none }))
        #expect(!faults.contains { if case .stalled = $0 { true } else { false } })
        #expect((0..<1000).allSatisfy { FaultPlan(seed: 3, weights: .always).fault(for: $0) != .none })
    }

    @Test func `a session replays a plan without spending time on it`() async throws {
        let start = ContinuousClock.now
        for plan in FaultPlan.plans(seeds: 0..<20, weights: .always) {
            try await plan.explaining {
                let first = try await outcomes(plan)
                #expect(try await outcomes(plan) == first, "\(plan)")
                // The status 503 belongs to no phase; every other error names one.
                let unplaced = first.filter { $0.hasSuffix("no phase") }
                #expect(unplaced.allSatisfy { $0.hasPrefix("unacceptableStatus") }, "\(plan)")
            }
        }
        // Its stalls alone would take an hour; the rest is up to what else the machine has to do.
        #expect(ContinuousClock.now - start < .seconds(300))
    }

    @Test(arguments: [
        (Fault.none, "200 0123456789"), (.refused, "connectionFailed in connect"),
        (.reset(after: 0), "connectionClosed in firstByte"), (.reset(after: 20), "connectionClosed in receive"),
        (.reset(after: 43), "0123 connectionClosed in receive"),
        (.truncated(after: 43), "0123 connectionClosed in receive"),
        (.stalled(after: 0), "timedOut in firstByte"), (.stalled(after: 43), "0123 timedOut in receive"),
        (.dripping(pieces: 4, every: .milliseconds(1)), "200 0123456789"),
        (.delayed(.milliseconds(5)), "200 0123456789"), (.unavailable, "503 "),
        (.wrongLength(missing: 3), "0123456789 connectionClosed in receive"),
    ])
    func `mock and loopback fail alike`(fault: Fault, outcome: String) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "0123456789").suffering(fault) }
        let sockets = HTTPSession.Configuration(baseURL: server.baseURL)
        // A server that listens cannot refuse.
        let overSockets = fault == .refused ? "connectionClosed in firstByte" : outcome
        #expect(try await stream(from: sockets, with: fault) == overSockets)

        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.otherwise { request in
            try await .respond(body: "0123456789").suffering(fault, of: request, on: clock)
        }
        let mocked = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        #expect(try await clock.skippingWaits { try await stream(from: mocked, with: fault) } == outcome)
    }

    /// The status and the body, or as much of it as came and the error.
    private func stream(
        from configuration: HTTPSession.Configuration, with fault: Fault
    ) async throws -> String {
        var configuration = configuration
        // Longer than a busy machine keeps an answer back, unless the fault is that none comes.
        var limits = Timeouts(firstByte: .seconds(600), readIdle: .seconds(600))
        if case .stalled(after: let count) = fault {
            if count == 0 { limits.firstByte = .seconds(5) } else { limits.readIdle = .seconds(5) }
        }
        configuration.timeouts = limits
        let session = try HTTPSession(configuration)
        var text = ""
        do {
            return try await session.withResponse(from: "/") { response in
                for try await piece in response.body { text += String(piece) }
                return "\(response.status) \(text)"
            }
        } catch let error as NetworkError {
            // So that metrics tell of what failed too.
            #expect(error.hop != nil, "\(error)")
            return (text.isEmpty ? "" : "\(text) ") + "\(error.code) in \(error.phase?.rawValue ?? "no phase")"
        }
    }

    /// What is answered, and what is announced for it.
    @Test(arguments: [[:], ["Content-Length": "10"]] as [Fields])
    func `a body that is shorter than announced is the same error over mock and loopback`(fields: Fields) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(fields: fields, body: "0123456789").suffering(.wrongLength(missing: 3)) }
        let transport = MockTransport()
        transport.otherwise { request in
            try await .respond(fields: fields, body: "0123456789")
                .suffering(.wrongLength(missing: 3), of: request, on: transport.clock)
        }
        var mocked = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        mocked.proxy = .none
        for configuration in [HTTPSession.Configuration(baseURL: server.baseURL), mocked] {
            let session = try HTTPSession(configuration)
            let error = try await #require(throws: NetworkError.self) { try await session.get("/", as: .bytes) }
            #expect(error.code == .connectionClosed && error.phase == .receive)
            #expect(error.underlying as? WireError == .truncatedBody, "\(error)")
            #expect(error.body == "0123456789" && error.hop != nil)
            await session.shutdown()
        }
    }

    @Test(arguments: [Fault.none, .dripping(pieces: 3, every: .zero), .wrongLength(missing: 3), .delayed(.zero)])
    func `a response to HEAD has no body, spoiled or not`(fault: Fault) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { .response(body: "0123456789").suffering(fault, answering: $0.method) }
        let session = try HTTPSession(.init(baseURL: server.baseURL))
        for _ in 0..<20 { #expect(try await session.head("/").status == .ok) }
        #expect(server.bytesSent < 20 * 50)
    }

    @Test func `a failure names the plan that led to it`() async throws {
        let plan = FaultPlan(seed: 99)
        let failure = await #expect(throws: FaultPlan.Failure.self) {
            try await plan.explaining { throw CancellationError() }
        }
        #expect(failure?.description == "FaultPlan(seed: 99): CancellationError()")
    }

    @Test func `a loopback server counts faults within a route where it is told to`() async throws {
        let plan = FaultPlan(seed: 5, weights: weights)
        let server = try LoopbackServer()
        defer { server.stop() }
        server.apply(plan, byRoute: true) { _ in .response(body: "fine") }
        let session = try HTTPSession(.init(baseURL: server.baseURL))
        for number in 0..<20 {
            for path in ["/a", "/b"] {
                var options = HTTPSession.Options()
                options.validatesResponse = false
                let status = try await session.get(.init(path), options: options, as: .bytes).status
                let expected: HTTP.Status = plan.fault(for: number, of: "GET \(path)") == .unavailable ? 503 : 200
                #expect(status == expected)
            }
        }
    }

    private var weights: FaultPlan.Weights {
        var weights = FaultPlan.Weights()
        (weights.refused, weights.reset, weights.truncated, weights.stalled) = (0, 0, 0, 0)
        (weights.wrongLength, weights.unavailable) = (0, 60)
        return weights
    }
}
