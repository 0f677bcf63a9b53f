import Dunlin
import Testing

@testable import DunlinTesting

@Suite(.timeLimit(.minutes(10))) struct MockTransportTests {
    private func ask(
        _ transport: MockTransport, _ method: HTTP.Method = .get, _ target: String = "/", _ body: RequestBody = .none
    ) async throws -> String {
        let origin = HTTP.Origin(scheme: .http, host: "api.test")
        let head = RequestHead(method: method, origin: origin, target: target)
        let response = try await transport.exchange(TransportRequest(head: head, body: body))
        switch response.body {
        case .bytes(let bytes): return "\(response.head.status) \(String(bytes))"
        case .stream(let stream):
            var text = "\(response.head.status) "
            while let piece = try await stream.next() { text += String(piece) }
            return text
        }
    }

    @Test(arguments: [
        ("/users/42", "/users/42", true), ("/users/42", "/users/42?x=1", true), ("/users/42", "/users/43", false),
        ("/users/42?x=1", "/users/42?x=1", true), ("/users/42?x=1", "/users/42?x=2", false),
        ("/users/42?x=1", "/users/42", false), ("/users/*", "/users/42", true), ("/users/*", "/users/", false),
        ("/users/*", "/users", false), ("/users/*", "/users/42/posts", false), ("/*/42", "/users/42", true),
        ("/users/*/posts/*", "/users/42/posts/7?a=/b/", true), ("/", "/", true), ("/", "/a", false),
        ("/a*", "/ab", false), ("/a%2Fb", "/a/b", false),
    ])
    func `paths match exactly, or by segment`(path: String, target: String, matches: Bool) {
        #expect(MockPath(path).matches(target) == matches)
    }

    @Test func `outcomes are used in order, each once`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/").respond(body: "first").thenFail(.connectionReset).thenRespond(.created, body: "third")
        #expect(try await ask(transport) == "200 first")
        let reset = await #expect(throws: NetworkError.self) { try await ask(transport) }
        #expect(reset?.code == .connectionClosed)
        #expect(reset?.isSafeToRetry == true)
        #expect(try await ask(transport) == "201 third")
        try transport.verify()
        let unmatched = await #expect(throws: MockTransport.Unmatched.self) { try await ask(transport) }
        #expect(unmatched?.routes == ["GET / (0 of 3 outcomes left)"])
    }

    @Test func `the last outcome stays if it is to`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/").respond(body: "first").thenRespond(body: "again").always()
        var answers: [String] = []
        for _ in 0..<4 { answers.append(try await ask(transport)) }
        #expect(answers == ["200 first", "200 again", "200 again", "200 again"])
        try transport.verify()
    }

    @Test func `exact paths go before patterns, and a used-up route is passed over`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/users/*").respond(body: "any").always()
        transport.on(.get, "/users/42").respond(body: "exact")
        transport.on(.put, "/users/42").respond(body: "other method")
        #expect(try await ask(transport, .get, "/users/42") == "200 exact")
        #expect(try await ask(transport, .get, "/users/42") == "200 any")
    }

    @Test func `verify tells what was not used and what was not matched`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/a").respond(body: "1").thenDelay(.seconds(2)).never()
        _ = transport.on(.get, "/b")
        _ = try await ask(transport, .get, "/a")
        let unmatched = await #expect(throws: MockTransport.Unmatched.self) { try await ask(transport, .post, "/c") }
        #expect("\(try #require(unmatched))".contains("no outcome for POST /c; routes: GET /a (1 of 2"))
        let failure = #expect(throws: MockTransport.VerificationFailure.self) { try transport.verify() }
        #expect(
            failure?.description == """
                not used: GET /a: never after 2.0 seconds (2 of 2)
                not used: GET /b has no outcome
                not matched: POST /c
                """)
    }

    @Test func `otherwise answers the requests that no route answers`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/known").respond(body: "route")
        transport.otherwise { request in .respond(.accepted, body: Bytes("\(request.method) \(request.path)")) }
        #expect(try await ask(transport, .get, "/known") == "200 route")
        #expect(try await ask(transport, .put, "/else?x=1") == "202 PUT /else")
        try transport.verify()
    }

    @Test func `requests are recorded with their bodies, streamed ones too`() async throws {
        let transport = MockTransport()
        transport.on(.post, "/").respond().always()
        _ = try await ask(transport, .post, "/?q=1", .string("text"))
        _ = try await ask(transport, .post, "/", .stream(pieces(["one", "two"]), length: 6))
        let requests = transport.requests
        #expect(requests.map(\.body) == ["text", "onetwo"])
        #expect(requests.map(\.query) == ["q=1", nil])
        #expect(requests.map(\.isComplete) == [true, true])
    }

    @Test func `a streamed body of another length than declared fails as on a socket`() async throws {
        let transport = MockTransport()
        transport.on(.post, "/").respond()
        let error = await #expect(throws: NetworkError.self) {
            try await ask(transport, .post, "/", .stream(pieces(["one"]), length: 6))
        }
        #expect(error?.code == .bodyLengthMismatch)
        #expect(transport.requests.first?.isComplete == false)
    }

    @Test(arguments: [(HTTP.Method.head, HTTP.Status.ok), (.get, .noContent), (.get, .notModified)])
    func `responses without room for a body have none`(method: HTTP.Method, status: HTTP.Status) async throws {
        let transport = MockTransport()
        transport.on(method, "/").respond(status, body: "lost").thenStream(["lost"])
        #expect(try await ask(transport, method) == "\(status) ")
    }

    @Test func `a delay of a mock passes by the transport's clock`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/").delay(.seconds(30)).respond(body: "late")
        async let answer = ask(transport)
        try await clock.waitForSleepers()
        try await clock.advance(by: .seconds(30))
        #expect(try await answer == "200 late")
    }

    @Test func `cancelling ends a delay, a silence and a stream at once`() async throws {
        let transport = MockTransport(clock: ManualClock())
        transport.on(.get, "/").delay(.seconds(30)).respond().never()
            .reply(
                .stream { _ in
                    try await ManualClock().sleep(for: .seconds(1)); return nil
                })
        for count in 1...3 {
            let task = Task { try await ask(transport) }
            try await transport.waitForRequests(count)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        try transport.verify()
    }

    @Test func `a response has JSON of any structure, or of a type`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/").respond(json: ["id": 42, "name": "Ada"]).thenRespond(json: [1, "x", nil, ["a": true]])
            .reply(.respond(json: ["a": 1.5, "b": "c"])).thenRespond(json: ["x": [1, 2]] as [String: [Int]])
            .thenRespond(json: "text").thenRespond(json: 7)
        var bodies: [String] = []
        for _ in 0..<6 { bodies.append(try await ask(transport)) }
        #expect(
            bodies == [
                #"200 {"id":42,"name":"Ada"}"#, #"200 [1,"x",null,{"a":true}]"#, #"200 {"a":1.5,"b":"c"}"#,
                #"200 {"x":[1,2]}"#, #"200 "text""#, "200 7",
            ])
    }

    @Test func `a value that cannot be encoded fails the request`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/").respond(json: Double.nan)
        await #expect(throws: EncodingError.self) { try await ask(transport) }
    }

    private func pieces(_ pieces: [Bytes]) -> AsyncThrowingStream<Bytes, any Error> {
        AsyncThrowingStream { stream in
            for piece in pieces { stream.yield(piece) }
            stream.finish()
        }
    }

    @Test func `a condition about any property of a request routes it before paths do`() async throws {
        let transport = MockTransport()
        let session = try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
        transport.on("pings", where: { $0.method == .post && $0.body == "ping" }).respond(body: "pong").always()
        transport.on("traced", where: { $0.fields["x-trace"] != nil }).respond(body: "traced")
        transport.on(.get, "/a").respond(body: "path").always()
        #expect(try await session.post("a", body: .string("ping")).value == "pong")
        let pieces = RequestBody.stream(AsyncThrowingStream<Bytes, any Error>(pieces: ["pi", "ng"]), length: 4)
        #expect(try await session.post("b", body: pieces).value == "pong")
        #expect(try await session.get("a", fields: ["X-Trace": "1"]).value == "traced")
        #expect(try await session.get("a", fields: ["X-Trace": "1"]).value == "path")
        let unmatched = await #expect(throws: MockTransport.Unmatched.self) {
            try await session.post("a", body: .string("pong"))
        }
        #expect("\(try #require(unmatched))".contains("pings (repeating)"))
    }

}

extension AsyncThrowingStream<Bytes, any Error> {
    fileprivate init(pieces: [Bytes]) {
        self.init { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
    }
}
