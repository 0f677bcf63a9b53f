import Dunlin
import DunlinTesting
import Testing

/// A request that fails within an interceptor after a response has come: the exchange took place, and is told.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The hop of a request that fails within an interceptor` {
    typealias Interception = HTTPSession.Interception
    typealias Intercept = @Sendable (TransportRequest, HTTPSession.Next) async throws -> TransportResponse

    private static let scopes: [@Sendable (@escaping Intercept) -> Interception] = [
        { .call($0) }, { .exchange($0) },
    ]

    private static func expectOne(_ end: HTTPSession.Completion, _ code: NetworkError.Code) throws {
        let error = try #require(end.error as? NetworkError)
        #expect(error.code == code && error.requestMayHaveBeenSent, "\(error)")
        let hop = try #require(end.metrics.hops.last)
        #expect(end.metrics.hops.count == 1 && error.hop == hop)
        #expect(hop.connection > 0 && hop.bytesSent > 0 && hop.bytesReceived > 0)
    }

    /// Refused before anything is given up.
    @Test func `a request that fails within an interceptor has the hop of its first sending if it cannot send again`()
        async throws
    {
        for scope in Self.scopes {
            let ends = Completions()
            try await Stage.with(tolerating: true) { configuration in
                configuration.hooks.completed = { ends.add($0) }
                configuration.interceptors = [scope(HTTPSession.Interception.sendingTwice)]
            } _: { (stage: Stage) async throws in
                stage.server.respond { _ in .response(body: "x") }
                await #expect(throws: NetworkError.self) { try await stage.session.post("x", body: .once) }
                try Self.expectOne(try await ends.only(stage), .bodyNotReplayable)
                #expect(stage.server.requests.count == 1)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a request that fails while its interceptor waits has the hop of what was sent`(isCancelled: Bool) async throws
    {
        for scope in Self.scopes {
            let (ends, clock, waits) = (Completions(), ManualClock(), LoopbackServer.Gate())
            try await Stage.with(clock: clock, tolerating: true) { configuration in
                configuration.hooks.completed = { ends.add($0) }
                configuration.interceptors = [
                    scope { request, next in
                        let response = try await next(request)
                        waits.open()
                        try await LoopbackServer.Gate().opened()
                        return response
                    }
                ]
            } _: { (stage: Stage) async throws in
                stage.server.respond { _ in .response(body: "x") }
                let task = try stage.session.task("x", options: .init(timeouts: .init(total: .seconds(7))), as: .string)
                task.resume()
                try await waits.opened()
                if isCancelled { task.cancel() } else { try await clock.advance(by: .seconds(7)) }
                await #expect(throws: NetworkError.self) { _ = try await task.value }
                try Self.expectOne(try await ends.only(stage), isCancelled ? .cancelled : .timedOut)
            }
        }
    }
}
