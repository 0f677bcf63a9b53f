import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10)))
struct `A request that is tried again` {
    typealias Policy = HTTPSession.RetryPolicy

    /// A session over a mock, by a clock that nobody waits for.
    private static func mocked(
        _ policy: Policy = .exponential(attempts: 3), _ clock: ManualClock = ManualClock(), seed: UInt64 = 1,
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> (mocked: Mocked, clock: ManualClock) {
        let mocked = try Mocked(clock: clock) {
            $0.retry = policy
            $0.use(SeededGenerator(seed: seed))
            try $0.use(clock)
            try change(&$0)
        }
        return (mocked, clock)
    }

    private static func error(_ work: () async throws -> Void) async throws -> NetworkError {
        try #require(try await networkError(work))
    }

    @Test func `a request that is tried again gets what a later attempt brings`() async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.on(.get, "/x").fail(.connectionReset).thenRespond(.serviceUnavailable).thenRespond(body: "fit")
        let response = try await clock.skippingWaits { try await mocked.session.get("x", as: .string) }
        #expect(response.value == "fit" && response.status == 200)
        #expect(
            response.retries.map(\.cause) == [.failure(.connectionClosed, .firstByte), .status(.serviceUnavailable)])
        #expect(mocked.transport.requests.count == 3)
        try mocked.transport.verify()
    }

    @Test func `an error that a serializer brings from elsewhere gets no attempts of this request`() async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.on(.get, "/x").fail(.connectionReset).thenRespond(body: "fit")
        let fail: @Sendable (String) throws -> Int = { _ in throw NetworkError(.nameNotResolved, "another request's") }
        let error = try await Self.error {
            try await clock.skippingWaits { _ = try await mocked.session.get("x", as: .string.map(fail)) }
        }
        #expect(error.code == .nameNotResolved && error.retries.isEmpty && error.attempts == 1)
    }

    @Test(arguments: [HTTPSession.RetryPolicy.never, .exponential(attempts: 1), .exponential(attempts: 3, when: [])])
    func `a request whose policy allows no retry is tried once`(policy: HTTPSession.RetryPolicy) async throws {
        let (mocked, _) = try Self.mocked(policy)
        mocked.transport.on(.get, "/x").fail(.connectionReset)
        let error = try await Self.error { _ = try await mocked.session.get("x", as: .bytes) }
        #expect(error.code == .connectionClosed && error.attempts == 1 && error.retryRefusal == nil)
    }

    @Test(arguments: [true, false])
    func `a request's own retry policy counts before the session's`(isOwn: Bool) async throws {
        let (mocked, clock) = try Self.mocked(isOwn ? .never : .exponential(attempts: 2))
        let options = HTTPSession.Options(retry: isOwn ? .exponential(attempts: 2) : .never)
        mocked.transport.otherwise { _ in .respond(.badGateway) }
        let error = try await Self.error {
            try await clock.skippingWaits { _ = try await mocked.session.get("x", options: options, as: .bytes) }
        }
        #expect(error.code == .unacceptableStatus && error.attempts == (isOwn ? 2 : 1))
        #expect(mocked.transport.requests.count == error.attempts)
    }

    @Test func `an error says how often the request was tried, and why not once more`() async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.on(.get, "/x").respond(.gatewayTimeout).thenFail(.timedOut(.connect)).thenFail(
            .connectionReset)
        let error = try await Self.error {
            try await clock.skippingWaits { _ = try await mocked.session.get("x", as: .bytes) }
        }
        #expect(error.code == .connectionClosed && error.attempts == 3 && error.retryRefusal == .attemptsSpent)
        #expect(error.retries.map(\.cause) == [.status(.gatewayTimeout), .failure(.timedOut, .connect)])
        #expect("\(error)".contains("in attempt 3"))
    }

    /// What happens to it; the error's code; why it is not tried again.
    @Test(
        arguments: [
            (.respond(.internalServerError), .unacceptableStatus, nil), (.fail(.timedOut(.pool)), .timedOut, nil),
            (.fail(NetworkError(.serverTrustFailed, "")), .serverTrustFailed, nil),
            (.fail(NetworkError(.invalidResponse, "", isSafeToRetry: true)), .invalidResponse, nil),
            (.fail(.timedOut(.total)), .timedOut, nil),
            (.fail(NetworkError(.connectionClosed, "")), .connectionClosed, .notSafe),
            (.respond(.ok, fields: ["Content-Type": "text/html"], body: "<p>"), .unacceptableContentType, nil),
            (.respond(.tooManyRequests, fields: ["Retry-After": "61"]), .unacceptableStatus, .retryAfterTooLong),
            (
                .respond(.tooManyRequests, fields: ["Retry-After": "99999999999999999999"]), .unacceptableStatus,
                .retryAfterTooLong
            ),
        ] as [(MockTransport.Outcome, NetworkError.Code, NetworkError.RetryRefusal?)])
    func `a request whose failure will not pass is not tried again`(
        outcome: MockTransport.Outcome, code: NetworkError.Code, refusal: NetworkError.RetryRefusal?
    ) async throws {
        let (mocked, _) = try Self.mocked()
        mocked.transport.on(.get, "/x").reply(outcome)
        let error = try await Self.error { _ = try await mocked.session.get("x", as: User.self) }
        #expect(error.code == code && error.retryRefusal == refusal && error.retries.isEmpty)
    }

    /// Method, fields, what happens to it first, and whether it is tried again.
    @Test(
        .rules("9110-9.2.2-1", "9112-9.3.1-1"),
        arguments: [
            (.get, [:], .fail(.connectionReset), true), (.put, [:], .fail(.connectionReset), true),
            (.delete, [:], .respond(503), true), (.post, [:], .fail(.connectionReset), false),
            (.post, [:], .fail(.connectionRefused), true), (.post, [:], .fail(.timedOut(.firstByte)), false),
            (.post, [:], .fail(.timedOut(.connect)), true), (.post, [:], .respond(503), false),
            (.post, [:], .respond(429), true), (.patch, [:], .respond(502), false),
            (.post, ["idempotency-key": "7"], .respond(503), true),
            (.post, ["Idempotency-Key": "7"], .fail(.connectionReset), true),
        ] as [(HTTP.Method, Fields, MockTransport.Outcome, Bool)])
    func `a request that could take effect twice is not tried again`(
        method: HTTP.Method, fields: Fields, outcome: MockTransport.Outcome, isRetried: Bool
    ) async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.on(method, "/x").reply(outcome)
        mocked.transport.otherwise { _ in .respond(body: "fit") }
        let options = HTTPSession.Options(fields: fields)
        let result = try await clock.skippingWaits {
            try await networkError {
                _ = try await mocked.session.request(
                    "x", method: method, body: .string("a"), options: options, as: .bytes)
            }
        }
        #expect((result == nil) == isRetried && result?.retryRefusal == (isRetried ? nil : .notSafe))
        #expect(mocked.transport.requests.count == (isRetried ? 2 : 1))
        #expect(mocked.transport.requests.allSatisfy { $0.body == "a" })
    }

    @Test func `a request that could take effect twice is tried again if the policy allows it`() async throws {
        var policy = Policy.exponential(attempts: 2)
        policy.retriesNonIdempotent = true
        let (mocked, clock) = try Self.mocked(policy)
        mocked.transport.on(.post, "/x").fail(.connectionReset).thenRespond(body: "fit")
        let value = try await clock.skippingWaits {
            try await mocked.session.post("x", body: .string("a"), as: .string).value
        }
        #expect(value == "fit")
    }

    @Test(arguments: [true, false])
    func `a request is tried again only if its body can be sent again`(isReplayable: Bool) async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.on(.put, "/x").respond(503).thenRespond(body: "fit")
        let pieces: [Bytes] = ["on", "e"]
        let body: RequestBody =
            isReplayable
            ? .replayable { AsyncThrowingStream(pieces) } : .stream(AsyncThrowingStream(pieces))
        let error = try await clock.skippingWaits {
            try await networkError { _ = try await mocked.session.put("x", body: body, as: .bytes) }
        }
        #expect(error?.code == (isReplayable ? nil : .unacceptableStatus))
        #expect(error?.retryRefusal == (isReplayable ? nil : .bodyNotReplayable))
        #expect(mocked.transport.requests.map(\.body) == (isReplayable ? ["one", "one"] : ["one"]))
    }

    /// Nobody has begun to send it.
    @Test func `a body that can be sent only once, and was not, is sent with a later attempt`() async throws {
        let (mocked, clock) = try Self.mocked()
        let refusing = Refusing(mocked.transport)
        let session = try HTTPSession(
            {
                var configuration = mocked.session.configuration
                configuration.transport = refusing
                return configuration
            }())
        mocked.transport.on(.post, "/x").respond(body: "fit")
        let body = RequestBody.stream(AsyncThrowingStream(["one"]))
        let value = try await clock.skippingWaits { try await session.post("x", body: body, as: .string).value }
        #expect(value == "fit" && mocked.transport.requests.map(\.body) == ["one"])
    }

    @Test func `the waits between attempts are random, and the same for the same seed`() async throws {
        var waits: [[Duration]] = []
        for seed in [7, 7, 8] as [UInt64] {
            let (mocked, clock) = try Self.mocked(.exponential(attempts: 5, base: .seconds(1)), seed: seed)
            mocked.transport.otherwise { _ in .respond(503) }
            let start = clock.now
            let error = try await Self.error {
                try await clock.skippingWaits { _ = try await mocked.session.get("x", as: .bytes) }
            }
            waits.append(error.retries.map(\.wait))
            #expect(start.duration(to: clock.now) == error.retries.map(\.wait).reduce(.zero, +))
        }
        #expect(waits[0] == waits[1] && waits[0] != waits[2] && waits[0].count == 4)
        for (index, wait) in waits[0].enumerated() { #expect(wait <= .seconds(1 << index)) }
    }

    @Test(.rules("9110-10.2.3-2", "9110-15.6.4-1"), arguments: ["2", "Sun, 06 Nov 1994 08:49:39 GMT"])
    func `the wait before another attempt is at least as long as the server asks`(asked: String) async throws {
        let (mocked, clock) = try Self.mocked(.constant(attempts: 2, every: .seconds(1)))
        let fields: Fields = ["Retry-After": asked, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]
        mocked.transport.on(.get, "/x").respond(503, fields: fields).thenRespond(body: "fit")
        let start = clock.now
        let response = try await clock.skippingWaits { try await mocked.session.get("x", as: .string) }
        #expect(response.value == "fit" && response.retries.map(\.wait) == [.seconds(3)])
        #expect(start.duration(to: clock.now) == .seconds(3))
    }

    /// Seconds for the request as a whole, and how often it is tried.
    @Test(arguments: [(1, 1), (2, 2), (3, 2), (4, 3), (100, 5)])
    func `no attempt begins for which there is no time`(total: Int, attempts: Int) async throws {
        var policy = Policy.exponential(attempts: 5, base: .seconds(1))
        policy.jitter = .none
        let (mocked, clock) = try Self.mocked(policy) { $0.timeouts.total = .seconds(total) }
        mocked.transport.otherwise { _ in .respond(503) }
        let error = try await Self.error {
            try await clock.skippingWaits { _ = try await mocked.session.get("x", as: .bytes) }
        }
        #expect(error.attempts == attempts && error.response?.status == 503)
        #expect(error.retryRefusal == (attempts == 5 ? .attemptsSpent : .deadline))
    }

    @Test func `all attempts of a request share its total time`() async throws {
        let (mocked, clock) = try Self.mocked(.constant(attempts: 3, every: .seconds(4))) {
            $0.timeouts.total = .seconds(10)
        }
        mocked.transport.on(.get, "/x").respond(503).thenRespond(503).reply(.never)
        async let failure = Self.error { _ = try await mocked.session.get("x", as: .bytes) }
        for _ in 0..<2 {
            try await clock.waitForRetries()
            try await clock.advance(by: .seconds(4))
        }
        try await mocked.transport.waitForRequests(3)
        try await clock.waitForDeadlines()
        try await clock.advance(by: .seconds(2))
        let error = try await failure
        #expect(error.code == .timedOut && error.phase == .firstByte && error.exceeded == .total)
        #expect(error.attempts == 3)
    }

    @Test func `another attempt begins at the first URL again, before the redirects`() async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.on(.get, "/a").respond(307, fields: ["Location": "/b"]).always()
        mocked.transport.on(.get, "/b").respond(503).thenRespond(body: "fit")
        let response = try await clock.skippingWaits { try await mocked.session.get("a#top", as: .string) }
        #expect(response.value == "fit" && response.url == "http://api.test/b#top")
        #expect(mocked.transport.requests.map(\.target) == ["/a", "/b", "/a", "/b"])
        #expect(response.history.map(\.status) == [307])
    }

    @Test func `a POST that was redirected is not tried again`() async throws {
        let (mocked, _) = try Self.mocked()
        mocked.transport.on(.post, "/a").respond(303, fields: ["Location": "/b"])
        mocked.transport.on(.get, "/b").respond(429)
        let error = try await Self.error { _ = try await mocked.session.post("a", as: .bytes) }
        #expect(error.retryRefusal == .notSafe && mocked.transport.requests.count == 2)
    }

    @Test func `another attempt may be refused by the session's budget`() async throws {
        let policy = Policy.constant(attempts: 2, every: .zero, budget: .ratio(0.5, floor: 1))
        let (mocked, clock) = try Self.mocked(policy)
        mocked.transport.otherwise { _ in .respond(503) }
        var attempts: [Int] = []
        for _ in 0..<7 {
            let error = try await Self.error { _ = try await mocked.session.get("x", as: .bytes) }
            attempts.append(error.attempts)
            #expect(error.retryRefusal == (error.attempts == 2 ? .attemptsSpent : .budgetSpent))
        }
        // What fails adds nothing.
        #expect(attempts == [2, 1, 1, 1, 1, 1, 1])
        try await clock.advance(by: .seconds(1))
        let other = try await Self.error { _ = try await mocked.session.get("http://b.test/x", as: .bytes) }
        #expect(other.attempts == 2)
    }

    /// How many of 60 callers get through that are told twice to come back, and the most attempts of one of them.
    private static func throughOfSixty(
        attempts: Int, status: Int = 429, after seconds: String
    ) async throws -> (successes: Int, attempts: Int) {
        let (mocked, clock) = try Self.mocked(.constant(attempts: attempts, every: .zero, budget: .ratio(0, floor: 1)))
        let seen = Mutex<[String: Int]>([:])
        mocked.transport.otherwise { request in
            let count = seen.withLock {
                $0[request.path, default: 0] += 1; return $0[request.path] ?? 0
            }
            return count <= 2
                ? .respond(HTTP.Status(status), fields: ["Retry-After": seconds]) : .respond(body: "fit")
        }
        let successes = try await clock.skippingWaits {
            await withTaskGroup(of: Bool.self) { group in
                for number in 0..<60 {
                    group.addTask { @Sendable in
                        (try? await mocked.session.get("\(number)", as: .string))?.value == "fit"
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
        return (successes, seen.withLock { $0.values.max() ?? 0 })
    }

    @Test(arguments: [429, 503])
    func `an attempt whose time the server named is refused by no budget`(status: Int) async throws {
        #expect(try await Self.throughOfSixty(attempts: 3, status: status, after: "1") == (60, 3))
        #expect(try await Self.throughOfSixty(attempts: 2, status: status, after: "1") == (0, 2))
        #expect(try await Self.throughOfSixty(attempts: 3, status: status, after: "0").successes <= 1)
    }

    @Test func `observers are told of another attempt before the wait for it`() async throws {
        let told = Mutex<[String]>([])
        let (mocked, clock) = try Self.mocked(.constant(attempts: 2, every: .seconds(5))) {
            $0.hooks.retrying = { task, retry in told.withLock { $0.append("\(task.state) \(retry.cause)") } }
        }
        let events = mocked.session.events
        mocked.transport.on(.get, "/x").respond(503).thenRespond(body: "fit")
        let task = try mocked.session.task("x", as: .string)
        task.resume()
        try await clock.waitForRetries()
        #expect(told.withLock { $0 } == ["waitingToRetry(hop: 1) status 503"])
        #expect(await mocked.session.tasks.all.map(\.state) == [.waitingToRetry(hop: 1)])
        #expect(await mocked.session.tasks.all.map(\.phase) == [nil])
        try await clock.advance(by: .seconds(5))
        #expect(try await task.value == "fit")
        await mocked.session.shutdown()
        var retried: [Duration] = []
        for await case .retrying(_, let retry) in events { retried.append(retry.wait) }
        #expect(retried == [.seconds(5)])
    }

    @Test func `a suspended request begins no other attempt until it is resumed`() async throws {
        let (mocked, clock) = try Self.mocked(.constant(attempts: 2, every: .seconds(5)))
        mocked.transport.on(.get, "/x").respond(503).thenRespond(body: "fit")
        let task = try mocked.session.task("x", as: .string)
        task.resume()
        try await clock.waitForRetries()
        task.suspend()
        #expect(task.snapshot.state == .suspended)
        try await clock.advance(by: .seconds(50))
        #expect(mocked.transport.requests.count == 1)
        task.resume()
        #expect(try await task.value == "fit")
    }

    @Test(arguments: [true, false])
    func `a request that is cancelled while it waits for another attempt ends at once`(isTask: Bool) async throws {
        let (mocked, clock) = try Self.mocked(.constant(attempts: 2, every: .seconds(5)))
        mocked.transport.on(.get, "/x").respond(503)
        let asking = Task { try await mocked.session.get("x", as: .bytes) }
        try await clock.waitForRetries()
        if isTask { asking.cancel() } else { await mocked.session.tasks.cancelAll() }
        let result = await asking.result
        #expect(await mocked.session.tasks.count == 0 && mocked.transport.requests.count == 1)
        switch result {
        case .success: Issue.record("was cancelled")
        case .failure(let error):
            #expect((error is CancellationError) == isTask)
            #expect(isTask || (error as? NetworkError)?.code == .cancelled)
            #expect(isTask || (error as? NetworkError)?.attempts == 2)
        }
    }

    @Test func `a streamed request is tried again only until its body is handed over`() async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.on(.get, "/x").fail(.connectionReset).thenRespond(503)
            .reply(.stream(["a", "b"], failing: NetworkError(.connectionClosed, "", isSafeToRetry: true)))
        let text = Mutex("")
        let error = try await Self.error {
            try await clock.skippingWaits {
                try await mocked.session.withResponse(from: "x") { response in
                    #expect(response.retries.map(\.cause).last == .status(503))
                    for try await piece in response.body { text.withLock { $0 += String(piece) } }
                }
            }
        }
        #expect(text.withLock { $0 } == "ab" && error.code == .connectionClosed)
        #expect(mocked.transport.requests.count == 3)
    }

    @Test(arguments: [true, false])
    func `a request is tried again when its body breaks, unless somebody saw the body`(isSeen: Bool) async throws {
        let (mocked, clock) = try Self.mocked {
            if isSeen { $0.hooks.data = { _, _ in } }
        }
        let broken = NetworkError(.connectionClosed, "", phase: .receive, isSafeToRetry: true)
        mocked.transport.on(.get, "/x").reply(.stream(["a"], failing: broken)).reply(.stream(["whole"]))
        let value = Mutex("")
        let error = try await clock.skippingWaits {
            try await networkError {
                let response = try await mocked.session.get("x", as: .string)
                value.withLock { $0 = response.value }
            }
        }
        #expect(value.withLock { $0 } == (isSeen ? "" : "whole"))
        #expect((error == nil) == !isSeen && mocked.transport.requests.count == (isSeen ? 1 : 2))
    }

    @Test(
        arguments: [
            (0, .seconds(1), .seconds(1), .unlimited), (2, .seconds(-1), .seconds(1), .unlimited),
            (2, .seconds(2), .seconds(1), .unlimited), (2, .zero, .zero, .ratio(-0.1)), (2, .zero, .zero, .ratio(.nan)),
            (2, .zero, .zero, .ratio(0.1, floor: -1)),
        ] as [(Int, Duration, Duration, HTTPSession.RetryPolicy.Budget)])
    func `a retry policy that makes no sense is refused`(
        attempts: Int, base: Duration, cap: Duration, budget: HTTPSession.RetryPolicy.Budget
    ) async throws {
        let policy = Policy.exponential(attempts: attempts, base: base, cap: cap, budget: budget)
        let session = try await networkError { _ = try Self.mocked(policy) }
        #expect(session?.code == .invalidConfiguration)
        let (mocked, _) = try Self.mocked()
        let request = try await Self.error {
            _ = try await mocked.session.get("x", options: .init(retry: .value(policy)), as: .bytes)
        }
        #expect(request.code == .invalidRequest && mocked.transport.requests.isEmpty)
    }
}

/// Refuses the first exchange before it looks at the body.
private final class Refusing: Transport {
    private let next: any Transport
    private let hasRefused = Atomic<Bool>(false)

    init(_ next: any Transport) {
        self.next = next
    }

    func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        guard hasRefused.exchange(true, ordering: .relaxed) else {
            throw NetworkError(.connectionFailed, "no", phase: .connect, isSafeToRetry: true)
        }
        return try await next.exchange(request)
    }
}

extension AsyncThrowingStream where Failure == any Error, Element: Sendable {
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}
