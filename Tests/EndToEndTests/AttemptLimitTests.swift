import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The limit of an attempt` {
    private static func options(
        _ limit: Duration = .milliseconds(300), retry: HTTPSession.PerRequest<HTTPSession.RetryPolicy> = .session
    ) -> HTTPSession.Options {
        HTTPSession.Options(timeouts: .init(attempt: .value(limit)), retry: retry)
    }

    private static let again = HTTPSession.RetryPolicy.constant(attempts: 3, every: .milliseconds(1))

    @Test func `an attempt that is slow leaves time for another`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue([.stall])
            let head: Bytes = "HTTP/1.1 200 OK\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaa"
            stage.server.enqueue([.drip(head, every: .milliseconds(50))])
            stage.server.respond { _ in .response(.ok, body: "late") }
            let options = Self.options(retry: .value(Self.again))
            let response = try await stage.session.get("x", options: options, as: .string)
            #expect(response.value == "late" && response.retries.count == 2)
            let causes = response.retries.map(\.cause)
            #expect(causes == [.failure(.timedOut, .firstByte), .failure(.timedOut, .receive)])
        }
    }

    @Test func `the error names the limit, and a POST that may have worked is not sent again`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in LoopbackServer.Reply([.stall]) }
            let error = try await NetworkError.thrown {
                let options = Self.options(retry: .value(Self.again))
                _ = try await stage.session.post("x", body: .bytes("a"), options: options)
            }
            #expect(error.code == .timedOut && error.exceeded == .attempt && error.phase == .firstByte)
            #expect(error.limit == .milliseconds(300) && error.requestMayHaveBeenSent)
            #expect(error.retryRefusal == .notSafe && stage.server.requests.count == 1)
        }
    }

    @Test func `neither the wait for a connection nor the body counts`() async throws {
        try await Stage.with(configure: { $0.connections.perOrigin = 1 }) { (stage: Stage) async throws in
            stage.server.respond { _ in
                LoopbackServer.Reply([
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .pause(.milliseconds(500)), .send("b"),
                ])
            }
            let values = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<3 {
                    group.addTask { try await stage.session.get("x", options: Self.options(), as: .string).value }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(values == ["ab", "ab", "ab"] && stage.server.connectionCount == 1)
        }
    }

    @Test func `a body that is still sent after the head has come is not limited`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(
                LoopbackServer.Reply([`Both directions at once`.head, .send("1\r\na\r\n0\r\n\r\n")]).beforeBody)
            let producer = `Both directions at once`.Producer()
            let options = Self.options(.milliseconds(100))
            try await stage.session.withResponse(from: "x", method: .post, body: producer.body, options: options) {
                try await Task.sleep(for: .milliseconds(300))
                producer.permits.continuation.yield("late")
                producer.permits.continuation.finish()
                #expect(try await $0.body.reduce(0) { $0 + $1.count } == 1)
            }
        }
    }

    @Test func `a body that takes longer to send than an attempt may take is sent`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(.ok) }
            let producer = `Both directions at once`.Producer()
            let options = Self.options(.seconds(1))
            async let response = stage.session.post("x", body: producer.body, options: options, as: .bytes)
            for piece: Bytes in ["a", "b", "c"] {
                try await Task.sleep(for: .milliseconds(400))
                producer.permits.continuation.yield(piece)
            }
            producer.permits.continuation.finish()
            #expect(try await response.status == .ok)
        }
    }

    @Test func `a suspended attempt goes on when it is resumed`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            let isThere = LoopbackServer.Gate()
            stage.server.respond { _ in
                LoopbackServer.Reply([
                    .signal(isThere), .waitForSignal(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                ])
            }
            let task = try stage.session.task("x", options: Self.options(.seconds(2)), as: .string)
            task.resume()
            try await isThere.opened()
            try await clock.advance(by: .seconds(1))
            #expect(task.suspend())
            try await clock.advance(by: .seconds(10))
            #expect(task.resume())
            try await clock.advance(by: .milliseconds(500))
            gate.open()
            #expect(try await task.value == "ok")
        }
    }

    @Test func `a mocked server has the same limit`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/x").never().thenRespond(body: "late")
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        try configuration.use(clock)
        configuration.timeouts.attempt = .seconds(1)
        configuration.retry = Self.again
        let session = try HTTPSession(configuration)
        async let response = session.get("x", as: .string)
        try await transport.waitForRequests()
        try await clock.advance(by: .seconds(1))
        try await clock.waitForRetries()
        try await clock.advance(by: .seconds(1))
        #expect(try await response.value == "late")
        #expect(try await response.retries.map(\.cause) == [.failure(.timedOut, .firstByte)])
    }
}
