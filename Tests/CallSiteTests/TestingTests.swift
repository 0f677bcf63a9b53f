import Dunlin
import DunlinTesting
import Testing

/// The snippets of the guide to tests, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guide to tests` {
    @Test func `the examples about a mock transport run as written`() async throws {
        do {
            let transport = MockTransport()
            transport.on(.get, "/users/42")
                .respond(json: User(id: 42, name: "Ada"))
            let client = try HTTPSession(
                .init(baseURL: "http://api.test", transport: transport))
            let user = try await client.get("users/42", as: User.self)
            try transport.verify()

            #expect(user.id == 42)
        }

        let transport = MockTransport()
        transport.on(.get, "/users/42")
            .respond(json: User(id: 42, name: "Ada"))
        transport.on(.get, "/teams/7")
            .respond(json: ["id": 7, "name": "Blue", "members": [42]])
        transport.on(.delete, "/users/*").respond(.noContent).always()
        transport.on(.get, "/flaky").fail(.connectionReset)
            .thenRespond(.serviceUnavailable).thenRespond(body: "fit")
        let client = try HTTPSession(
            .init(baseURL: "http://api.test", transport: transport))

        let user = try await client.get("users/42", as: User.self)
        #expect(transport.requests[0].fields["Accept"] == "application/json")

        transport.on("a ping", where: { $0.body == "ping" })
            .respond(body: "pong")

        let team = try await client.get("teams/7", as: DynamicValue.self)
        #expect(team["members"] == [42])
        #expect(try await client.post("users/42", body: .string("ping")).value == "pong")
        try await client.delete("users/42")
        try await client.delete("users/7")
        let options = HTTPSession.Options(retry: .exponential(attempts: 3, base: .zero))
        #expect(try await client.get("flaky", options: options).value == "fit")
        transport.otherwise { request in .respond(body: "else") }
        try transport.verify()

        #expect(try await client.put("x").value == "else" && user.id == 42)
    }

    @Test func `the examples about a server on a real socket run as written`() async throws {
        let server = try LoopbackServer()
        server.route(.get, "/hello", .response(body: "hello"))
        server.enqueue(
            .response(503), .response(body: "hello").resetAfter(20))
        let client = try HTTPSession(baseURL: server.baseURL)

        let text = try await client.get("hello", as: .string)
        let request = try await server.nextRequest()
        #expect(text.value == "hello" && request.target == "/hello")
        #expect(server.failures.isEmpty)
        server.stop()
    }

    @Test func `the examples about a clock that a test moves run as written`() async throws {
        let server = try LoopbackServer()
        server.route(.get, "/slow", [.stall])
        let clock = ManualClock()
        var configuration = HTTPSession.Configuration(
            baseURL: server.baseURL)
        try configuration.use(clock)
        let client = try HTTPSession(configuration)

        let outcome = Task {
            async let answer = client.get("slow", as: .string)
            _ = try await server.nextRequest()
            try await clock.advance(by: .seconds(61))

            return try await answer.value
        }
        let error = await #expect(throws: NetworkError.self) { try await outcome.value }
        #expect(error?.exceeded == .firstByte)
        server.stop()
    }

    @Test func `the examples about a mock transport with a clock that a test moves run as written`() async throws {
        let clock = ManualClock()
        let transport = MockTransport()
        transport.on(.get, "/forecast").never()
        let client = try HTTPSession(baseURL: "http://api.test/") {
            $0.timeouts.total = .seconds(10)
            $0.transport = transport
            try $0.use(clock)
        }

        let answer = Task { try await client.get("forecast", as: .string) }
        try await eventually("the request is on its way") {
            transport.requests.count == 1
        }
        try await clock.advance(by: .seconds(11))
        let error = await #expect(throws: NetworkError.self) {
            try await answer.value
        }
        #expect(error?.exceeded == .total)
    }

    private nonisolated func sendOrder(_ transport: MockTransport) async throws {
        let client = try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
        _ = try? await client.post("orders")
    }

    @Test func `the examples about faults of a server run as written`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        let plan = FaultPlan(seed: 7)
        transport.apply(plan) { _ in .respond(body: "fit") }

        try await plan.explaining {
            try await clock.skippingWaits {
                try await sendOrder(transport)
            }
        }

        #expect(transport.requests.count == 1)
    }

    @Test func `the examples about TLS in tests run as written`() async throws {
        let authority = try CertificateAuthority()
        let certificate = try authority.issue(.server("127.0.0.1"))
        let server = try LoopbackServer(tls: .init(certificate))
        let client = try HTTPSession(baseURL: server.baseURL) {
            $0.tls.roots = .only([.bytes(authority.certificate.der)])
        }

        server.enqueue(.response(body: "hello"))
        #expect(try await client.get("x", as: .string).value == "hello")
        await client.shutdown()
        server.stop()
    }
}
