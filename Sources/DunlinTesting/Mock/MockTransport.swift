internal import DunlinTransport
public import DunlinTypes
internal import Synchronization

/// A transport without a network, which answers a session's requests as a test says, and records them.
///
/// ```swift
/// let transport = MockTransport()
/// transport.on(.get, "/users/42").fail(.connectionReset).thenRespond(json: User(id: 42, name: "Ada"))
/// transport.on(.get, "/users/*/avatar").respond(.notFound).always()
/// let client = try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
/// …
/// try transport.verify()   // every outcome used, nothing unmatched
/// ```
///
/// **Which outcome.** The first matching route with an outcome left is used: conditions first, then exact paths, then
/// patterns, each in order of declaration. Each outcome is used once, unless `always()` repeats a route's last one. A
/// request for which no route has an outcome goes to the closure of `otherwise`; without one it fails with `Unmatched`.
///
/// **Paths.** A path without a query matches any query; `*` stands for one segment. The base URL's path is part of it.
public final class MockTransport: Transport {
    public typealias Responder = @Sendable (RecordedRequest) async throws -> Outcome

    private struct State {
        var machine = MockMachine()
        var requests: [RecordedRequest] = []
        var unmatched: [Unmatched] = []
        var responder: Responder?
    }

    let clock: any Clock<Duration>
    private let state = Mutex(State())
    let changes = LoopbackServer.Broadcast()

    /// Creates a transport whose delays take place on `clock`.
    public init(clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
    }

    /// Returns the route for a method and a path or pattern, to add outcomes to. A second call returns the same route.
    public func on(_ method: HTTP.Method, _ path: String) -> Route {
        Route(transport: self, index: state.withLock { $0.machine.declare(method, path) }, delay: .zero)
    }

    /// Returns a route for requests that meet any condition: on method, target, fields or the whole body. It comes
    /// before routes for paths. Failures call it `name`.
    ///
    /// ```swift
    /// transport.on(where: { $0.fields["X-Trace"] != nil && $0.body == "ping" }).respond(body: "pong")
    /// ```
    public func on(
        _ name: String = "a condition", where condition: @escaping @Sendable (RecordedRequest) -> Bool
    ) -> Route {
        Route(transport: self, index: state.withLock { $0.machine.declare(name, where: condition) }, delay: .zero)
    }

    /// Answers requests that no route answers. The closure is retained as long as the transport.
    public func otherwise(_ responder: @escaping Responder) {
        state.withLock { $0.responder = responder }
    }

    /// Every request so far, in order of arrival.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// Returns the first `count` requests, once there are that many; their bodies may still be under way. Throws if
    /// that takes longer than `limit`.
    @discardableResult
    public func waitForRequests(
        _ count: Int = 1, within limit: Duration = .patience
    ) async throws -> [RecordedRequest] {
        try await changes.first(within: limit, { "request number \(count)" }) { [self] in
            let requests = requests
            return requests.count >= count ? Array(requests.prefix(count)) : nil
        }
    }

    /// Throws `VerificationFailure` if an outcome was not used or a request was not matched.
    public func verify() throws {
        let failure = state.withLock { VerificationFailure(unused: $0.machine.unused, unmatched: $0.unmatched) }
        if !failure.unused.isEmpty || !failure.unmatched.isEmpty { throw failure }
    }

    func add(_ outcome: Outcome, to route: Int) {
        state.withLock { $0.machine.add(outcome, to: route) }
    }

    func repeatLast(of route: Int) {
        state.withLock { $0.machine.repeatLast(of: route) }
    }
}

// MARK: - Exchanges

extension MockTransport {
    public func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        try Task.checkCancellation()
        let exchange = try await CheckedExchange(request)
        let (index, arrived) = arrival(of: RecordedRequest(request), request.body)
        changes.announce()
        let body = try await collect(request.body, of: exchange) { body in
            state.withLock { $0.requests[index].body = body }
            changes.announce()
        }
        // A test that sees the request may move the clock, so waits for the answer begin before that.
        let sent = request.body.isAtHand ? exchange.started : exchange.now()
        let recorded = state.withLock { state in
            state.requests[index].isComplete = true
            state.requests[index].body = body
            return state.requests[index]
        }
        changes.announce()
        let routed = if case .decided(let outcome) = arrived { outcome } else { routed(recorded) }
        let hop = exchange.hop(after: body.count, sentAt: sent)
        let (head, content) = try await exchange.wait(in: .firstByte, since: sent, hop) { [self] in
            try await outcome(for: recorded, routed).perform(request, on: clock)
        }
        return try content.response(to: exchange, head, since: sent, hop)
    }

    /// Takes the outcome on arrival, so that requests get outcomes in order, unless conditions must wait for a body
    /// that comes in pieces.
    private func arrival(of request: RecordedRequest, _ body: RequestBody) -> (Int, Arrival) {
        let (index, arrived) = state.withLock { state -> (Int, Arrival) in
            state.requests.append(request)
            let index = state.requests.count - 1
            if !state.machine.conditions.isEmpty { return (index, .undecided) }
            return (index, .decided(state.machine.take(request.method, request.target)))
        }
        guard case .undecided = arrived else { return (index, arrived) }
        var request = request
        switch body.content {
        case .none: break
        case .bytes(let bytes): request.body = bytes
        case .stream, .file: return (index, .undecided)
        }
        return (index, .decided(routed(request)))
    }

    private enum Arrival {
        case decided(Outcome?)
        case undecided
    }

    /// Conditions are the test's code, so they are evaluated outside the lock.
    private func routed(_ request: RecordedRequest) -> Outcome? {
        let conditions = state.withLock { $0.machine.conditions }
        let met = Set(conditions.filter { $0.condition(request) }.map(\.route))
        return state.withLock { $0.machine.take(request.method, request.target, met: met) }
    }

    private func outcome(for request: RecordedRequest, _ routed: Outcome?) async throws -> Outcome {
        if let routed { return routed }
        if let responder = state.withLock({ $0.responder }) { return try await responder(request) }
        throw state.withLock { state in
            let error = Unmatched(method: request.method, target: request.target, routes: state.machine.summary)
            state.unmatched.append(error)
            return error
        }
    }

    /// Collects the request's body as a transport would send it; `note` is called with what there is after each piece.
    private func collect(
        _ body: RequestBody, of exchange: CheckedExchange, _ note: (Bytes) -> Void
    ) async throws -> Bytes {
        var whole = Bytes.empty
        try await exchange.sendBody { piece in
            whole = whole.isEmpty ? piece : Bytes(whole.array + piece.array)
            if !body.isAtHand { note(whole) }
        }
        return whole
    }
}

extension RequestBody {
    /// Whether the whole body is there before it is sent.
    fileprivate var isAtHand: Bool {
        switch content {
        case .none, .bytes: true
        case .stream, .file: false
        }
    }
}
