import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10)))
struct `A stream of events that is resumed` {
    typealias Settings = HTTPSession.EventSettings

    private static let type: Fields = ["Content-Type": "text/event-stream; charset=utf-8"]

    /// A session over a mock, by a clock that nobody waits for.
    private static func mocked(
        _ clock: ManualClock = ManualClock(), _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> (mocked: Mocked, clock: ManualClock) {
        let mocked = try Mocked(clock: clock) {
            $0.use(SeededGenerator(seed: 1))
            try $0.use(clock)
            try change(&$0)
        }
        return (mocked, clock)
    }

    private static func serve(_ mocked: Mocked, _ outcomes: MockTransport.Outcome...) {
        let next = Mutex(0)
        mocked.transport.otherwise { _ in
            let index = next.withLock { index in
                defer { index += 1 }
                return index
            }
            return index < outcomes.count ? outcomes[index] : .respond(.noContent)
        }
    }

    private static func stream(_ pieces: Bytes..., failing error: (any Error)? = nil) -> MockTransport.Outcome {
        .stream(pieces, fields: type, failing: error)
    }

    private static let reset = NetworkError(
        .connectionClosed, "reset", phase: .receive, requestMayHaveBeenSent: true, isSafeToRetry: true)

    private static func data(_ events: some AsyncSequence<ServerSentEvent, any Error>) async throws -> [String] {
        var data: [String] = []
        for try await event in events { data.append(event.data) }
        return data
    }

    private static func ids(_ mocked: Mocked) -> [String?] {
        mocked.transport.requests.map { $0.fields["Last-Event-ID"] }
    }

    @Test func `an event of a name that the settings give ends the stream with what the server says`() async throws {
        let said = #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#
        let (mocked, _) = try Self.mocked()
        Self.serve(
            mocked, Self.stream("event: Error\ndata: a\n\nevent: error\ndata: \(said)\n\nevent: b\ndata: b\n\n"))
        var data: [String] = []
        let error = try await NetworkError.thrown {
            let events = mocked.session.events(
                "x", json: 1, until: "[DONE]", settings: Settings(repeatsNonIdempotent: true, errorNames: ["error"]))
            for try await event in events { data.append(event.data) }
        }
        #expect(data == ["a"])
        #expect(error.code == .errorEvent && error.body.map(String.init(_:)) == said)
        let words = #"the server has sent the event "error": {"error":"Overloaded"} (phase receive)"#
        #expect(error.description == "POST http://api.test/x: errorEvent: \(words)")
        #expect(mocked.transport.requests.count == 1)
    }

    @Test func `an ID that cannot be sent leaves the one before it in the same response`() async throws {
        let (mocked, clock) = try Self.mocked()
        let long = Bytes(String(repeating: "x", count: 2000))
        Self.serve(mocked, Self.stream("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: ", long, "\ndata: c\n\n"))
        let data = try await clock.skippingWaits { try await Self.data(mocked.session.events("x")) }
        #expect(data == ["a", "b", "c"])
        #expect(Self.ids(mocked) == [nil, "2"])
    }

    @Test func `a stream that ends or breaks is resumed after the last event that was complete`() async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(
            mocked, Self.stream("id: 1\ndata: a\n\nid: 2\ndata: cut\n"),
            Self.stream("data: b\n\nid: 3\n\nid: 4\ndata: c", failing: Self.reset), Self.stream("id\ndata: d\n\n"))
        let stream = mocked.session.events("x")
        #expect(stream.attempt == 1)
        let data = try await clock.skippingWaits { try await Self.data(stream) }
        #expect(data == ["a", "b", "d"] && stream.attempt == 4)
        #expect(Self.ids(mocked) == [nil, "1", "3", nil])
        for request in mocked.transport.requests {
            #expect(request.method == .get && request.fields["Accept"] == "text/event-stream")
            #expect(request.fields["Cache-Control"] == "no-cache" && request.timeouts.total == nil)
        }
    }

    @Test func `an event without an ID has the one that its stream was resumed after`() async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(mocked, Self.stream("data: a\n\n"), Self.stream("data: b\n\nid:\ndata: c\n\n"))
        let events = mocked.session.events("x", after: "7")
        let ids = try await clock.skippingWaits {
            var ids: [String] = []
            for try await event in events { ids.append(event.id) }
            return ids
        }
        #expect(ids == ["7", "7", ""] && Self.ids(mocked) == ["7", "7", nil])
    }

    @Test func `a session's defaults, hooks and the caller's fields are those of each attempt`() async throws {
        let told = Mutex<[String]>([])
        let (mocked, clock) = try Self.mocked {
            $0.fields = ["X-Session": "s"]
            $0.hooks.response = { _, head in
                told.withLock { $0.append("response \(head.status.code)") }
                return nil
            }
            $0.hooks.reconnecting = { task, next in told.withLock { $0.append("\(task.state) \(next)") } }
        }
        let events = mocked.session.events
        Self.serve(mocked, Self.stream("retry: 3000\nid: 1\ndata: a\n\n"), Self.stream(failing: Self.reset))
        let stream = mocked.session.events("x", fields: ["X-Own": "o"])
        _ = try await clock.skippingWaits { try await Self.data(stream) }
        #expect(mocked.transport.requests.allSatisfy { $0.fields["X-Session"] == "s" && $0.fields["X-Own"] == "o" })
        await mocked.session.shutdown()
        var reconnections: [HTTPSession.Reconnection] = []
        for await case .reconnecting(_, let next) in events { reconnections.append(next) }
        #expect(reconnections.map(\.attempt) == [2, 3] && reconnections.map(\.lastEventID) == ["1", "1"])
        #expect(reconnections.map(\.cause) == [nil, .failure(.connectionClosed, .receive)])
        #expect(reconnections[0].wait == .seconds(3) && reconnections[1].wait >= .seconds(3))
        #expect(
            told.withLock { $0 } == [
                "response 200", "waiting \(reconnections[0])", "response 200", "waiting \(reconnections[1])",
                "response 204",
            ])
    }

    @Test func `values are decoded as they come, and the sentinel ends them`() async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(
            mocked, Self.stream("event: ping\ndata: {}\n\ndata: {\"id\":1,\"name\":\"a\"}\n\n"),
            Self.stream("data: {\"id\":2,\"name\":\"b\"}\n\ndata: [DONE]\n\ndata: {\"id\":3,\"name\":\"c\"}\n\n"))
        let values = mocked.session.events("x", until: "[DONE]", named: ["message"], as: User.self)
        let users = try await clock.skippingWaits {
            var users: [User] = []
            for try await user in values { users.append(user) }
            return users
        }
        #expect(users == [User(id: 1, name: "a"), User(id: 2, name: "b")])
        #expect(values.attempt == 2 && mocked.transport.requests.count == 2)
    }

    @Test func `a value that cannot be decoded ends the stream with an error that tells which event it was`()
        async throws
    {
        let (mocked, _) = try Self.mocked()
        Self.serve(
            mocked, Self.stream("event: ping\ndata: {}\n\ndata: {\"id\":1}\n\ndata: {\"id\":2,\"name\":\"b\"}\n\n"))
        let options = HTTPSession.Options(retry: .constant(attempts: 3, every: .zero))
        let values = mocked.session.events("x", named: ["message"], options: options, as: User.self)
        var iterator = values.makeAsyncIterator()
        let error = try await NetworkError.thrown { _ = try await iterator.next() }
        #expect(error.code == .decodingFailed && error.request?.url.hasSuffix("/x") == true)
        #expect(error.underlying is DecodingError && error.body == "{\"id\":1}")
        #expect(error.reason.hasPrefix("event 2 of the stream: ") && error.retries.isEmpty, "\(error)")
        #expect(try await iterator.next() == nil && mocked.transport.requests.count == 1)
    }

    static let refusals: [(HTTP.Status, Fields, NetworkError.Code)] = [
        (404, type, .unacceptableStatus), (500, [:], .unacceptableStatus), (503, [:], .unacceptableStatus),
        (301, [:], .unacceptableStatus), (200, ["Content-Type": "text/html"], .unacceptableContentType),
    ]

    @Test(arguments: refusals)
    func `a response that is no stream ends the stream with an error that has the body`(
        row: (HTTP.Status, Fields, NetworkError.Code)
    ) async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(mocked, Self.stream("data: a\n\n"), .respond(row.0, fields: row.1, body: "<p>no</p>"))
        var data: [String] = []
        let error = try await NetworkError.thrown {
            try await clock.skippingWaits {
                for try await event in mocked.session.events("x") { data.append(event.data) }
            }
        }
        #expect(data == ["a"] && error.code == row.2 && error.response?.status == row.0)
        #expect(error.body.map { String($0) } == "<p>no</p>" && mocked.transport.requests.count == 2)
    }

    static let types: [(fields: Fields, body: Bytes)] = [
        (["Content-Type": "text/html"], "<p>no</p>"), (["Content-Type": ""], "data: a\n\n"), ([:], "data: a\n\n"),
        ([:], ""),
    ]

    @Test(arguments: types, [true, false])
    func `a response that does not say that it is a stream of events is none, whatever is validated`(
        row: (fields: Fields, body: Bytes), validates: Bool
    ) async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(mocked, .respond(fields: row.fields, body: row.body), Self.stream("data: b\n\n"))
        let stream = mocked.session.events("x", options: .init(validatesResponse: validates))
        let error = try await NetworkError.thrown { try await clock.skippingWaits { for try await _ in stream {} } }
        #expect(error.code == .unacceptableContentType && error.body == row.body, "\(error)")
        #expect(error.request?.url.hasSuffix("/x") == true && mocked.transport.requests.count == 1)
        if row.fields.isEmpty { #expect(error.reason.contains("not declared")) }
    }

    @Test func `a status other than 2xx is accepted if nothing is validated`() async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(mocked, .respond(404, fields: Self.type, body: "data: a\n\n"))
        let stream = mocked.session.events("x", options: .init(validatesResponse: false))
        #expect(try await clock.skippingWaits { try await Self.data(stream) } == ["a"])
    }

    @Test func `a status that the request's policy names is a failed attempt`() async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(mocked, .respond(503), .respond(503, fields: ["Retry-After": "7"]), Self.stream("data: a\n\n"))
        let start = clock.now
        let options = HTTPSession.Options(retry: .exponential(attempts: 3))
        let data = try await clock.skippingWaits { try await Self.data(mocked.session.events("x", options: options)) }
        #expect(data == ["a"] && start.duration(to: clock.now) >= .seconds(7))
    }

    @Test func `failed attempts in a row end the stream, and the error names them`() async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.otherwise { _ in .fail(.connectionRefused) }
        let error = try await NetworkError.thrown {
            try await clock.skippingWaits { _ = try await Self.data(mocked.session.events("x")) }
        }
        #expect(error.code == .connectionFailed && error.retryRefusal == .attemptsSpent)
        #expect(error.attempts == 10 && mocked.transport.requests.count == 10)
    }

    @Test func `only failed attempts draw on the retry budget`() async throws {
        let (mocked, clock) = try Self.mocked()
        let full = (0..<20).map { Self.stream("id: \($0)\ndata: a\n\n") }
        let outcomes = Mutex(full + [.fail(.connectionReset), .fail(.connectionReset), .fail(.connectionReset)])
        mocked.transport.otherwise { _ in outcomes.withLock { $0.isEmpty ? .respond(.noContent) : $0.removeFirst() } }
        let options = HTTPSession.Options(
            retry: .constant(attempts: 10, every: .zero, when: [.connectionFailure], budget: .ratio(0, floor: 2)))
        let settings = Settings(minimumWait: .zero)
        var count = 0
        let error = try await NetworkError.thrown {
            try await clock.skippingWaits {
                for try await _ in mocked.session.events("x", settings: settings, options: options) { count += 1 }
            }
        }
        #expect(count == 20 && error.retryRefusal == .budgetSpent && error.retries.count == 2)
    }

    @Test(arguments: [true, false])
    func `a POST is sent again only if that is asked for`(isAsked: Bool) async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(mocked, Self.stream("id: 1\ndata: a\n\n"), Self.stream("id: 2\ndata: b\n\n"))
        let stream = mocked.session.events("x", json: ["q": 1], settings: Settings(repeatsNonIdempotent: isAsked))
        let data = try await clock.skippingWaits { try await Self.data(stream) }
        #expect(data == (isAsked ? ["a", "b"] : ["a"]))
        #expect(mocked.transport.requests.allSatisfy { $0.method == .post && $0.body == "{\"q\":1}" })
        #expect(mocked.transport.requests.count == (isAsked ? 3 : 1))
    }

    /// The server sends no ID, so its answer begins anew each time.
    @Test(arguments: [true, false])
    func `a POST without IDs is sent again after an event only if it may begin anew, and the hook says so`(
        isWanted: Bool
    ) async throws {
        let told = Mutex<[Bool]>([])
        let (mocked, clock) = try Self.mocked {
            $0.hooks.reconnecting = { _, reconnection in told.withLock { $0.append(reconnection.beginsAnew) } }
        }
        mocked.transport.otherwise { _ in Self.stream("data: a\n\n", failing: Self.reset) }
        let stream = mocked.session.events(
            "x", json: ["q": 1], until: "[DONE]",
            settings: Settings(repeatsNonIdempotent: true, beginsAnew: isWanted),
            options: .init(retry: .exponential(attempts: 3)))
        var data: [String] = []
        let error = try await networkError {
            try await clock.skippingWaits { for try await event in stream { data.append(event.data) } }
        }
        #expect(error?.retryRefusal == (isWanted ? .attemptsSpent : .notResumable))
        #expect(data.count == (isWanted ? 3 : 1) && mocked.transport.requests.count == data.count)
        #expect(told.withLock { $0 } == (isWanted ? [true, true] : []))
    }

    @Test(arguments: [true, false])
    func `a body that can be sent once is not sent again`(breaks: Bool) async throws {
        let (mocked, clock) = try Self.mocked()
        Self.serve(mocked, Self.stream("data: a\n\n", failing: breaks ? Self.reset : nil))
        let body = RequestBody.stream(
            AsyncStream<Bytes> {
                $0.yield("once"); $0.finish()
            })
        let stream = mocked.session.events("x", body: body, settings: Settings(repeatsNonIdempotent: true))
        var data: [String] = []
        let error = try await networkError {
            try await clock.skippingWaits { for try await event in stream { data.append(event.data) } }
        }
        #expect(data == ["a"] && error?.retryRefusal == (breaks ? .bodyNotReplayable : nil))
        #expect((error != nil) == breaks && mocked.transport.requests.count == 1)
    }

    @Test func `a stream that may not be resumed fails if its sentinel has not come`() async throws {
        let (mocked, _) = try Self.mocked()
        Self.serve(mocked, Self.stream("data: a\n\n"))
        let error = try await NetworkError.thrown {
            _ = try await Self.data(mocked.session.events("x", method: .post, until: "[DONE]"))
        }
        #expect(error.code == .connectionClosed && error.request?.method == .post)
        #expect(error.reason.contains("`settings.repeatsNonIdempotent`"), "\(error)")
    }

    @Test func `a stream can be read once, and settings that make no sense fail`() async throws {
        let (mocked, _) = try Self.mocked()
        Self.serve(mocked, .respond(.noContent))
        let stream = mocked.session.events("x")
        #expect(try await Self.data(stream) == [])
        let again = try await NetworkError.thrown { _ = try await Self.data(stream) }
        #expect(again.code == .bodyConsumed)
        let bad = try await NetworkError.thrown {
            _ = try await Self.data(mocked.session.events("x", settings: Settings(minimumWait: .seconds(-1))))
        }
        #expect(bad.code == .invalidRequest && mocked.transport.requests.count == 1)
    }
}
