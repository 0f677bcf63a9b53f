import Dunlin
import DunlinTesting
import DunlinWire
import Testing

/// One table of requests and answers, over a mock and over a socket.
@Suite struct `A mock and a socket` {
    /// What is sent, what is answered, and what the caller gets.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = HTTP.Method.get
        var fields: Fields = [:]
        var body = RequestBody.none
        var answer = Answer.whole()
        let expected: Outcome

        init(
            _ name: String, _ method: HTTP.Method = .get, _ fields: Fields = [:], _ body: RequestBody = .none,
            _ answer: Answer = .whole(), _ expected: Outcome
        ) {
            testDescription = name
            (self.method, self.fields, self.body, self.answer, self.expected) = (method, fields, body, answer, expected)
        }

        init(_ name: String, answering answer: Answer, _ expected: Outcome) {
            self.init(name, .get, [:], .none, answer, expected)
        }
    }

    enum Answer: Sendable {
        case whole(HTTP.Status = .ok, Fields = [:], Bytes = .empty)
        case chunks([Bytes], trailers: Fields = [:])

        /// Over a socket the connection ends after it, as an answer of a mock does.
        var reply: LoopbackServer.Reply {
            switch self {
            case .whole(let status, let fields, let body):
                .response(status, fields: fields, body: body).closingSilently
            case .chunks(let pieces, let trailers): .chunked(pieces, trailers: trailers).closingSilently
            }
        }

        var outcome: MockTransport.Outcome {
            switch self {
            case .whole(let status, let fields, let body): .respond(status, fields: fields, body: body)
            case .chunks(let pieces, let trailers): .stream(pieces, trailers: trailers)
            }
        }
    }

    enum Outcome: Sendable, Equatable {
        /// A body, and a field of the head or the trailers that is called `X`.
        case body(String, x: String? = nil)
        /// A code, what is beneath it, whether the request went out, and what had come of a body that was cut off: what
        /// had come before it broke the rules depends on how a socket's bytes arrive.
        case error(NetworkError.Code, WireError? = nil, sent: Bool = true, body: String? = nil)
    }

    static let requests: [Case] = [
        .init(
            "a line break in a value", .get, ["X": "a\r\nHost: evil"], .none, .whole(),
            refused(.invalidRequestFieldValue(name: "X"))),
        .init("a NUL in a value", .get, ["X": "a\0"], .none, .whole(), refused(.invalidRequestFieldValue(name: "X"))),
        .init("no name", .get, ["X Y": "a"], .none, .whole(), refused(.invalidRequestFieldName(beginning: "X"))),
        .init("two hosts", .get, ["Host": "a.test", "host": "b.test"], .none, .whole(), refused(.repeatedHost)),
        .init("a host that is none", .get, ["Host": "a test"], .none, .whole(), refused(.invalidHost)),
        .init(
            "another length", .post, ["Content-Length": "4"], .string("abc"), .whole(),
            refused(.contentLengthContradictsBody)),
        .init(
            "chunks", .post, ["Transfer-Encoding": "gzip"], .string("abc"), .whole(),
            refused(.transferEncodingContradictsBody)),
        .init("a connection", .get, ["Connection": "upgrade"], .none, .whole(), refused(.unsupportedConnectionOption)),
        .init("a body of TRACE", "TRACE", [:], .string("abc"), .whole(), refused(.bodyNotAllowed)),
        .init("a method that is none", "GE T", [:], .none, .whole(), refused(.invalidMethod)),
        .init(
            "a trailer", .post, [:], RequestBody.string("a").withTrailers(["Host": "b"]), .whole(),
            refused(.forbiddenTrailer(name: "Host"))),
        .init("too little", .post, [:], pieces(["a"], length: 2), .whole(), .error(.bodyLengthMismatch)),
        .init("too much", .post, [:], pieces(["abc"], length: 2), .whole(), .error(.bodyLengthMismatch)),
        .init(
            "a late trailer", .post, [:],
            RequestBody.string("a").withTrailers { () async throws -> Fields in ["Host": "b"] }, .whole(),
            .error(.invalidRequest, .forbiddenTrailer(name: "Host"))),
        .init("the same length", .post, ["Content-Length": "3"], .string("abc"), .whole(.ok, [:], "ok"), .body("ok")),
    ]

    static let answers: [Case] = [
        .init("short", answering: .whole(.ok, ["Content-Length": "5"], "abc"), cut(.truncatedBody, "abc")),
        .init("nothing", answering: .whole(.ok, ["Content-Length": "5"]), cut(.truncatedBody, "")),
        .init("long", answering: .whole(.ok, ["Content-Length": "2"], "abc"), .body("ab")),
        .init("said twice", answering: .whole(.ok, ["Content-Length": "3, 3"], "abc"), .body("abc")),
        .init(
            "two lengths", answering: .whole(.ok, ["Content-Length": "3", "content-length": "4"], "abc"),
            broken(.conflictingContentLengths)),
        .init("no length", answering: .whole(.ok, ["Content-Length": "x"], "abc"), broken(.invalidContentLength)),
        .init("gzip", answering: .whole(.ok, ["Transfer-Encoding": "gzip"]), broken(.unknownTransferCoding)),
        .init(
            "chunked first", answering: .whole(.ok, ["Transfer-Encoding": "chunked, gzip"]),
            broken(.chunkedCodingNotLast)),
        .init("a carriage return", answering: .whole(.ok, ["X": "a\rb"]), broken(.bareCarriageReturn)),
        .init("a line feed", answering: .whole(.ok, ["X": "a\nY: b"]), broken(.bareLineFeed)),
        .init("a NUL", answering: .whole(.ok, ["X": "a\0b"]), broken(.controlCharacter)),
        .init("a blank in a name", answering: .whole(.ok, ["X Y": "a"]), broken(.whitespaceBeforeColon)),
        .init("a second field", answering: .whole(.ok, ["Y": "a\r\nX: b"], "abc"), .body("abc", x: "b")),
        .init("blanks", answering: .whole(.ok, ["X": " b  "], "abc"), .body("abc", x: "b")),
        .init("a status that is none", answering: .whole(42), broken(.invalidStatusCode)),
        .init("another protocol", answering: .whole(.switchingProtocols), .error(.invalidResponse)),
        .init("interim only", answering: .whole(102), cut(.truncatedHead, nil)),
        .init("a long head", answering: .whole(.ok, ["X": long]), .error(.limitExceeded, .headTooLarge(limit: 8192))),
        .init("no content", answering: .whole(.noContent, [:], "abc"), .body("")),
        .init("not modified", answering: .whole(.notModified, ["Content-Length": "3"], "abc"), .body("")),
        .init("a head", .head, [:], .none, .whole(.ok, ["Content-Length": "3"], "abc"), .body("")),
        .init("reset content", answering: .whole(.resetContent), .body("")),
        .init("chunks", answering: .chunks(["a", "", "bc"], trailers: ["X": "b"]), .body("abc", x: "b")),
        .init(
            "no trailer", answering: .chunks(["a"], trailers: ["Content-Length": "3", "X": "b"]), .body("a", x: "b")),
        .init("a bad trailer", answering: .chunks(["a"], trailers: ["X": "b\0"]), broken(.controlCharacter)),
    ]

    private static let long = String(repeating: "x", count: 9000)

    private static func refused(_ reason: WireError) -> Outcome { .error(.invalidRequest, reason, sent: false) }

    private static func broken(_ reason: WireError) -> Outcome { .error(.invalidResponse, reason) }

    private static func cut(_ reason: WireError, _ body: String?) -> Outcome {
        .error(.connectionClosed, reason, body: body)
    }

    private static func pieces(_ pieces: [Bytes], length: Int?) -> RequestBody {
        .replayable(length: length) {
            AsyncThrowingStream { stream in
                for piece in pieces { stream.yield(piece) }
                stream.finish()
            }
        }
    }

    @Test(arguments: requests + answers)
    func `a mock and a socket deliver the same request and response`(example: Case) async throws {
        let transport = MockTransport()
        transport.otherwise { _ in example.answer.outcome }
        let mocked = try Self.session("http://api.test") { $0.transport = transport }
        let overMock = await Self.outcome(of: example, mocked)
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in example.answer.reply }
        let overSocket = await Self.outcome(of: example, try Self.session(server.baseURL))
        #expect(overSocket.outcome == example.expected)
        #expect(overMock == overSocket)
        // What was refused was never seen.
        if case .error(.invalidRequest, _, sent: false, _) = example.expected { #expect(transport.requests.isEmpty) }
    }

    private static func session(
        _ url: String, _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> HTTPSession {
        try HTTPSession(baseURL: url) {
            $0.limits.headBytes = 8192
            $0.proxy = .none
            try change(&$0)
        }
    }

    /// What the caller gets, and where an error says that it happened.
    struct Ending: Equatable {
        let outcome: Outcome
        var phase: HTTP.Phase?
        var hasHop = false
        var isSafeToRetry = false
    }

    private static func outcome(of example: Case, _ session: HTTPSession) async -> Ending {
        do {
            let response = try await session.request(
                "x", method: example.method, fields: example.fields, body: example.body,
                options: .init(validatesResponse: false))
            let x = response.fields["X"] ?? response.trailers["X"]
            return Ending(outcome: .body(String(response.value), x: x))
        } catch let error as NetworkError {
            return Ending(
                outcome: .error(
                    error.code, error.underlying as? WireError, sent: error.requestMayHaveBeenSent,
                    body: error.code == .connectionClosed ? error.body.map { String($0) } : nil),
                phase: error.phase, hasHop: error.hop != nil, isSafeToRetry: error.isSafeToRetry)
        } catch {
            return Ending(outcome: .error(.init("\(error)")))
        }
    }
}

/// The limits of a request over a mock.
@Suite(.timeLimit(.minutes(10))) struct `A mock that is slow` {
    private static func session(
        _ transport: MockTransport, _ clock: ManualClock, _ limit: Timeouts.Limit
    ) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://api.test") {
            $0.transport = transport
            $0.timeouts[limit] = .seconds(5)
            try $0.use(clock)
        }
    }

    /// The mock's own clock is another one in half of them: a session's limits count in the session's time.
    @Test(arguments: [true, false], ["never", "delayed", "a responder"])
    func `a slow mock exceeds the limit of the first byte`(isOwnClock: Bool, way: String) async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: isOwnClock ? clock : ManualClock())
        switch way {
        case "never": transport.on(.get, "/x").never()
        case "delayed": transport.on(.get, "/x").delay(.seconds(6)).respond()
        default:
            transport.otherwise { _ in
                try await ManualClock().sleep(for: .seconds(1))
                return .respond()
            }
        }
        let session = try Self.session(transport, clock, .firstByte)
        let answer = Task { try await session.get("x", as: .bytes) }
        try await transport.waitForRequests()
        try await clock.advance(by: .seconds(6))
        let error = await #expect(throws: NetworkError.self) { try await answer.value }
        #expect(error?.code == .timedOut && error?.exceeded == .firstByte && error?.phase == .firstByte)
        #expect(error?.limit == .seconds(5) && error?.requestMayHaveBeenSent == true)
        #expect(error?.isSafeToRetry == true)
    }

    @Test func `a mock may take as long as the limit`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/x").delay(.seconds(4)).respond(body: "in time")
        let session = try Self.session(transport, clock, .firstByte)
        let answer = try await clock.skippingWaits { try await session.get("x", as: .string) }
        #expect(answer.value == "in time")
    }

    @Test func `a mock that falls silent exceeds the idle limit, and the error keeps what had come`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/x").reply(
            .stream { index in
                if index < 2 { return "ab" }
                try await ManualClock().sleep(for: .seconds(1))
                return nil
            })
        let session = try Self.session(transport, clock, .readIdle)
        let answer = Task { try await session.get("x", as: .bytes) }
        try await clock.advance(by: .seconds(1), until: "the request has ended") {
            // In this order: before it has come, there is none either.
            if transport.requests.isEmpty { return false }
            return await session.tasks.count == 0
        }
        let error = await #expect(throws: NetworkError.self) { try await answer.value }
        #expect(error?.code == .timedOut && error?.exceeded == .readIdle && error?.phase == .receive)
        #expect(error?.body == "abab" && error?.response?.status == .ok)
    }

    @Test func `a slow mock exceeds no limit while its request is suspended`() async throws {
        let clock = ManualClock()
        let transport = MockTransport(clock: clock)
        transport.on(.get, "/x").delay(.seconds(8)).respond(body: "late")
        let session = try Self.session(transport, clock, .firstByte)
        let task = try session.task("x", as: .string)
        task.resume()
        try await transport.waitForRequests()
        task.suspend()
        try await clock.waitForSleepers()
        try await clock.advance(by: .seconds(7))
        task.resume()
        try await clock.advance(by: .seconds(1))
        #expect(try await task.value == "late")
    }
}

/// A peer that falls silent, over a mock and over a socket.
@Suite(.timeLimit(.minutes(10))) struct `A mock and a socket that fall silent` {
    enum Silence: CaseIterable, Sendable {
        /// After the request.
        case beforeHead
        /// After four bytes of the body.
        case withinBody

        var limit: Timeouts.Limit { self == .beforeHead ? .firstByte : .readIdle }

        var reply: LoopbackServer.Reply {
            self == .beforeHead ? [.stall] : [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabab"), .stall]
        }

        var outcome: MockTransport.Outcome {
            if self == .beforeHead { return .never }
            return .stream(length: 9) { index in
                if index < 2 { return "ab" }
                try await ManualClock().sleep(for: .seconds(1))
                return nil
            }
        }
    }

    /// What an error says of itself, but for the peer.
    struct Ending: Equatable {
        let code: NetworkError.Code
        let reason: String
        let phase: HTTP.Phase?
        let exceeded: Timeouts.Limit?
        let limit: Duration?
        let elapsed: Duration?
        let times: [HTTP.Phase: Duration]
        let isSafeToRetry: Bool
        let body: Bytes?
        let status: HTTP.Status?

        init(_ error: NetworkError) {
            (code, reason, phase, exceeded) = (error.code, error.reason, error.phase, error.exceeded)
            (limit, elapsed, isSafeToRetry) = (error.limit, error.elapsed, error.isSafeToRetry)
            (body, status) = (error.body, error.response?.status)
            let phases = HTTP.Phase.allCases.compactMap { phase in
                error.hop?.duration(of: phase).map { (phase, $0) }
            }
            times = Dictionary(uniqueKeysWithValues: phases)
        }
    }

    private static func ending(
        _ silence: Silence, at url: String, over transport: MockTransport? = nil,
        whenSilent: @Sendable (HTTPSession.RequestTask<Bytes>) async throws -> Void
    ) async throws -> Ending {
        let clock = ManualClock()
        let session = try HTTPSession(baseURL: url) {
            $0.transport = transport
            for limit in Timeouts.Limit.allCases { $0.timeouts[limit] = limit == silence.limit ? .seconds(5) : nil }
            $0.proxy = .none
            try $0.use(clock)
        }
        let task = try session.task("x", as: .bytes)
        task.resume()
        try await whenSilent(task)
        if silence == .withinBody {
            try await eventually("the body has begun") { task.downloaded.wireBytes == 4 }
        }
        try await clock.waitForDeadlines(1)
        try await clock.advance(by: .milliseconds(4999))
        #expect(task.resultIfEnded == nil)
        try await clock.advance(by: .milliseconds(1))
        let error = try await #require(throws: NetworkError.self) { try await task.value }
        await session.shutdown()
        return Ending(error)
    }

    @Test(arguments: Silence.allCases)
    func `a mock and a socket that fall silent exceed the same limit in the same phase, and keep what had come`(
        silence: Silence
    ) async throws {
        let transport = MockTransport()
        transport.otherwise { _ in silence.outcome }
        let overMock = try await Self.ending(silence, at: "http://api.test", over: transport) { _ in
            try await transport.waitForRequests()
        }
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in silence.reply }
        let overSocket = try await Self.ending(silence, at: server.baseURL) { _ in
            _ = try await server.waitForRequests(1)
        }
        #expect(overSocket.code == .timedOut && overSocket.exceeded == silence.limit)
        #expect(overSocket.limit == .seconds(5) && overSocket.elapsed == .seconds(5))
        #expect(overSocket.phase == (silence == .beforeHead ? .firstByte : .receive))
        #expect(overSocket.body == (silence == .beforeHead ? nil : "abab"))
        #expect(overMock == overSocket)
    }
}
