import Dunlin
import DunlinResilience
import DunlinTesting
import Mocking
import Testing

/// Over sockets and in real time. A busy machine may make anything slow: then probes fail, and the breaker opens again.
@Suite(.timeLimit(.minutes(10))) struct `A server that is dead` {
    private static func session(
        _ port: UInt16, attempt: Duration? = nil, retry: HTTPSession.RetryPolicy = .never
    ) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "http://127.0.0.1:\(port)")
        var breaker = Resilience.Breaker()
        (breaker.minimum, breaker.probes) = (4, 2)
        (breaker.openFor, breaker.longestOpen) = (.milliseconds(100), .seconds(2))
        var resilience = Resilience()
        (resilience.breaker, resilience.attempt) = (breaker, attempt)
        configuration.resilience = resilience
        configuration.retry = retry
        return try HTTPSession(configuration)
    }

    private static func failure(_ session: HTTPSession) async -> NetworkError? {
        do {
            #expect(try await session.get("x", as: .string).value == "back")
            return nil
        } catch {
            return error as? NetworkError
        }
    }

    /// Sends requests until one is refused, and expects of the others that they failed like this.
    private static func expectRefusal(_ session: HTTPSession, after isDead: (NetworkError) -> Bool) async throws {
        var failures = 0
        while true {
            let error = try #require(await failure(session))
            if error.code != .circuitOpen {
                #expect(isDead(error), "\(error)")
                failures += 1
                continue
            }
            let refusal = try #require(error.underlying as? ResilienceRefusal)
            #expect(failures == 4 ? refusal.reason == .failures(4, of: 4) : failures > 4)
            #expect(error.isSafeToRetry && !error.requestMayHaveBeenSent && error.hop == nil)
            #expect(refusal.key == session.configuration.baseURL && refusal.comesBack <= .seconds(2))
            #expect("\(error)".contains("no request is sent to the server for now"))
            return
        }
    }

    private static func expectClosing(_ session: HTTPSession) async throws {
        var succeeded = 0
        try await eventually("the breaker closes") {
            if let error = await failure(session) {
                // Some came too early; on a busy machine a probe may be too late.
                #expect([.circuitOpen, .timedOut].contains(error.code), "\(error)")
            } else {
                succeeded += 1
            }
            return succeeded > 0 && session.resilienceGauges.breakers.isEmpty
        }
        #expect(succeeded >= 3)
    }
}

extension `A server that is dead` {
    @Test func `and refuses connections is left alone until it is back, each time`() async throws {
        let port = try HeldPort()
        defer { port.release() }
        let session = try Self.session(port.number)
        for _ in 0..<2 {
            try await Self.expectRefusal(session) { $0.code == .connectionFailed && $0.phase == .connect }
            let server = try port.listen()
            server.respond { _ in LoopbackServer.Reply.response(body: "back").closingAfter }
            try await Self.expectClosing(session)
            #expect(server.requests.count >= 3)
            server.stop()
        }
        await session.shutdown()
    }

    @Test func `and never answers is left alone until it does`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in [.stall] }
        let session = try Self.session(server.port, attempt: .milliseconds(100))
        try await Self.expectRefusal(session) { $0.code == .timedOut && $0.exceeded == .attempt }
        server.respond { _ in .response(body: "back") }
        try await Self.expectClosing(session)
        await session.shutdown()
        server.stop()
    }

    @Test func `and completes no connection is left alone`() async throws {
        var configuration = LoopbackServer.Configuration()
        configuration.completesConnections = false
        let server = try LoopbackServer(configuration: configuration)
        let session = try Self.session(server.port, attempt: .milliseconds(100))
        try await Self.expectRefusal(session) { $0.code == .timedOut && $0.exceeded == .attempt }
        await session.shutdown()
        server.stop()
    }

    @Test func `ends the retries of a request when the breaker opens`() async throws {
        let port = try HeldPort()
        defer { port.release() }
        let retry = HTTPSession.RetryPolicy.constant(attempts: 20, every: .milliseconds(1), budget: .unlimited)
        let session = try Self.session(port.number, retry: retry)
        let error = try #require(await Self.failure(session))
        #expect(error.code == .circuitOpen && error.retries.count >= 4, "\(error)")
        await session.shutdown()
    }
}
