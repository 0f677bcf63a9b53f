import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

/// What was sent of a request counts, whoever had it sent, and not what it asks for.
@Suite(.timeLimit(.minutes(10)))
struct `A request of which something was sent` {
    private typealias Intercept = HTTPSession.Interception.Intercept

    private static func interception(isAroundCall: Bool, _ intercept: @escaping Intercept) -> HTTPSession.Interception {
        isAroundCall ? .call(intercept) : .exchange(intercept)
    }

    private static func mocked(
        _ change: (inout HTTPSession.Configuration) throws -> Void
    ) throws -> Mocked {
        try Mocked {
            $0.retry = .constant(attempts: 3, every: .zero)
            try change(&$0)
        }
    }

    /// What happens to it first, and whether it is tried again.
    @Test(
        arguments: [
            (.respond(503), false), (.fail(.connectionReset), false), (.respond(429), true),
            (.fail(.connectionRefused), true),
        ] as [(MockTransport.Outcome, Bool)], [true, false])
    func `a GET of which an interceptor makes a POST is tried again as a POST would be`(
        first: (outcome: MockTransport.Outcome, isRetried: Bool), isAroundCall: Bool
    ) async throws {
        let mocked = try Self.mocked {
            $0.interceptors = [
                Self.interception(isAroundCall: isAroundCall) { request, next in
                    try await next(request) {
                        $0.head.method = .post
                        $0.body = .string("pay")
                    }
                }
            ]
        }
        mocked.transport.on(.post, "/x").reply(first.outcome).thenRespond(body: "fit")
        let error = try await networkError { _ = try await mocked.session.get("x", as: .bytes) }
        #expect((error == nil) == first.isRetried && error?.retryRefusal == (first.isRetried ? nil : .notSafe))
        #expect(mocked.transport.requests.count == (first.isRetried ? 2 : 1))
    }

    /// What the second `next` fails with, having sent nothing.
    private static var unsent: [NetworkError] {
        var dead = NetworkError(.connectionClosed, "the connection was dead", isSafeToRetry: true)
        dead.connectionWasReused = true
        return [NetworkError(.connectionFailed, "nobody is there", isSafeToRetry: true), dead]
    }

    @Test(arguments: [0, 1])
    func `a POST that was answered within an interceptor is not sent again because its next could not send another`(
        index: Int
    ) async throws {
        let told = Mutex<[Bool]>([])
        let mocked = try Self.mocked {
            $0.interceptors = [
                .exchange { request, next in
                    _ = try await next(request)
                    do {
                        return try await next(request)
                    } catch let error as NetworkError {
                        told.withLock { $0 += [error.requestMayHaveBeenSent, error.isSafeToRetry] }
                        throw error
                    }
                }
            ]
        }
        mocked.transport.on(.post, "/x").respond(500).thenFail(Self.unsent[index]).thenRespond(body: "twice")
        let error = try #require(
            try await networkError { _ = try await mocked.session.post("x", body: .string("pay"), as: .bytes) })
        #expect(error.requestMayHaveBeenSent && !error.isSafeToRetry && error.retryRefusal == .notSafe)
        #expect(told.withLock { $0 } == [true, false], "the interceptor is told too")
        #expect(mocked.transport.requests.count == 2, "one is answered, and one not sent")
    }

    /// Method, status of the first answer, and whether all of it may be sent again.
    @Test(
        arguments: [(.post, 500, false), (.put, 500, true), (.post, 429, true)] as [(HTTP.Method, HTTP.Status, Bool)],
        [true, false])
    func `an error says that a request was sent though its interceptor could not send it again`(
        sent: (method: HTTP.Method, status: HTTP.Status, isSafe: Bool), isAroundCall: Bool
    ) async throws {
        let mocked = try Self.mocked {
            $0.retry = .never
            $0.interceptors = [
                Self.interception(isAroundCall: isAroundCall) { request, next in
                    _ = try await next(request)
                    return try await next(request)
                }
            ]
        }
        mocked.transport.on(sent.method, "/x").respond(sent.status).thenFail(.connectionRefused)
        let error = try #require(
            try await networkError { _ = try await mocked.session.request("x", method: sent.method, as: .bytes) })
        #expect(error.code == .connectionFailed)
        #expect(error.requestMayHaveBeenSent && error.isSafeToRetry == sent.isSafe)
    }

    /// Method, what happens to the first attempt, and whether all of it may be sent again.
    @Test(
        arguments: [
            (.post, .fail(.connectionReset), false), (.post, .respond(503), false), (.post, .respond(429), true),
            (.put, .fail(.connectionReset), true), (.put, .respond(503), true),
        ] as [(HTTP.Method, MockTransport.Outcome, Bool)])
    func `an error of the last attempt says that an earlier one was sent`(
        method: HTTP.Method, first: MockTransport.Outcome, isSafe: Bool
    ) async throws {
        let mocked = try Self.mocked {
            $0.retry = .constant(attempts: 2, every: .zero)
            $0.retry.retriesNonIdempotent = true
        }
        mocked.transport.on(method, "/x").reply(first).thenFail(.connectionRefused)
        let error = try #require(
            try await networkError { _ = try await mocked.session.request("x", method: method, as: .bytes) })
        #expect(error.code == .connectionFailed && error.attempts == 2)
        #expect(error.requestMayHaveBeenSent && error.isSafeToRetry == isSafe)
    }

    @Test func `an error says that a request was sent before it was sent again on another connection`() async throws {
        let mocked = try Self.mocked { $0.retry = .never }
        var dead = NetworkError(
            .connectionClosed, "the connection was dead", requestMayHaveBeenSent: true, isSafeToRetry: true)
        dead.connectionWasReused = true
        mocked.transport.on(.put, "/x").fail(dead).thenFail(.connectionRefused)
        let error = try #require(
            try await networkError { _ = try await mocked.session.put("x", body: .string("a"), as: .bytes) })
        #expect(error.code == .connectionFailed && error.requestMayHaveBeenSent && error.isSafeToRetry)
    }

    @Test func `what an interceptor sends and does not wait for counts as sent`() async throws {
        let mocked = try Self.mocked {
            let transport = try #require($0.transport as? MockTransport)
            $0.interceptors = [
                .exchange { request, next in
                    Task { try await next(request) { $0.head.method = .post } }
                    try await transport.waitForRequests(1)
                    return TransportResponse(head: ResponseHead(status: 503))
                }
            ]
        }
        mocked.transport.on(.post, "/x").never()
        let error = try #require(try await networkError { _ = try await mocked.session.get("x", as: .bytes) })
        #expect(error.retryRefusal == .notSafe && mocked.transport.requests.count == 1)
    }
}
