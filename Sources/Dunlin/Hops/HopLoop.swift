internal import DunlinReactor
internal import DunlinTransport

/// Drives requests hop by hop: sends each, and asks its machine what comes next.
struct HopLoop {
    let carrier: Carrier
    /// Where bodies are sent that go out while their response is read.
    var uploads: UploadScope?

    /// Out of line: an error made in place would take room in the frame that a waiting request keeps.
    private static var over: any Error {
        @inline(never) get { NetworkError(.cancelled, "the request was over already") }
    }

    /// `start` is when the first hop began; `request` becomes the one that is answered, and `trail` gets what came
    /// before that. Inlined, to cost each request no frame of its own; what follows the first hop has one.
    @inline(__always)
    func run(
        _ request: inout TransportRequest, _ delegate: TaskDelegate, since start: MonotonicTime, on loop: Reactor,
        _ trail: inout Trail?
    ) async throws -> TransportResponse {
        guard delegate.begin() else { throw Self.over }
        let outcome: Result<TransportResponse, any Error>
        do {
            let response = try await carrier.exchange(request, delegate, uploads, since: start, on: loop)
            var machine = HopMachine()
            if case .deliver = machine.received(response.head.status, for: request) { return response }
            outcome = .success(response)
        } catch {
            outcome = .failure(error)
        }
        return try await goOn(after: consume outcome, &request, delegate, on: loop, &trail)
    }

    /// What the first hop's outcome leads to.
    @inline(never)
    private func goOn(
        after first: consuming Result<TransportResponse, any Error>, _ request: inout TransportRequest,
        _ delegate: TaskDelegate, on loop: Reactor, _ trail: inout Trail?
    ) async throws -> TransportResponse {
        var outcome = first
        var course = Course()
        while true {
            // Consumed: a response that is not delivered must be gone, with its connection, before the next is awaited.
            let last = try await settle(consume outcome, &course, &request, delegate, on: loop, &trail)
            if let last { return last }
            guard delegate.begin() else { throw Self.over }
            do {
                let response = try await carrier.exchange(request, delegate, uploads, since: loop.now(), on: loop)
                outcome = .success(response)
            } catch {
                outcome = .failure(error)
            }
        }
    }

    /// What is known of a request's hops so far.
    private struct Course {
        var machine = HopMachine()
        var patience: ConnectivityWait?
    }

    /// The response to deliver; nil once `request` is what is to be sent next.
    @inline(never)
    private func settle(
        _ outcome: consuming Result<TransportResponse, any Error>, _ course: inout Course,
        _ request: inout TransportRequest, _ delegate: TaskDelegate, on loop: Reactor, _ trail: inout Trail?
    ) async throws -> TransportResponse? {
        do {
            let response = try outcome.get()
            switch course.machine.received(response.head.status, for: request) {
            case .deliver, .fail: return response
            case .send: trail.append(response.attempt)
            case .sendWithoutExpectation:
                trail.append(response.attempt)
                request = request.withoutExpectation
            case .redirect:
                guard let next = try await redirected(by: response, request, delegate, trail, on: loop) else {
                    return response
                }
                (request, trail) = (next.request, next.trail)
                course.machine.redirected()
            }
        } catch {
            if course.machine.failed(error, isReplayable: request.body.isReplayable) == .send {
                request = request.onFreshConnection
            } else {
                course.patience = course.patience ?? ConnectivityWait(carrier, delegate, on: loop)
                guard let patience = course.patience, request.body.canBeSent else {
                    throw request.explained(error, after: trail)
                }
                try await waitForNetwork(after: error, patience, request, &trail)
            }
        }
        return nil
    }
}

extension HopLoop {
    /// What to send now; nil to deliver the response. Out of line: what it needs belongs in no frame of a request that
    /// is not redirected.
    @inline(never)
    private func redirected(
        by response: TransportResponse, _ request: TransportRequest, _ delegate: TaskDelegate, _ trail: Trail?,
        on loop: Reactor
    ) async throws -> Redirecting.Next? {
        let redirecting = Redirecting(
            carrier: carrier, delegate: delegate, loop: loop, request: request, response: response, trail: trail)
        return try await redirecting.next()
    }
}

extension HopLoop {
    /// Returns when the request is to be sent again. Out of line, for requests that wait for no network.
    @inline(never)
    private func waitForNetwork(
        after error: any Error, _ patience: ConnectivityWait, _ request: TransportRequest, _ trail: inout Trail?
    ) async throws {
        do {
            try await patience.pass(error, request)
        } catch {
            throw request.explained(error, after: trail)
        }
        if let attempt = (error as? NetworkError)?.attempt { trail.append(attempt) }
    }
}

extension TransportRequest {
    /// A server that is not trusted is told of with the URL that led to it.
    @inline(never)
    fileprivate func explained(_ error: any Error, after trail: Trail?) -> any Error {
        trail.explained(
            NetworkError.explained(error, at: head.origin, url: head.origin.description + head.target))
    }

    fileprivate var onFreshConnection: TransportRequest {
        @inline(never) get {
            TransportRequest(
                head: head, body: body, timeouts: timeouts, deadline: deadline, priority: priority,
                continueTimeout: continueTimeout, needsFreshConnection: true)
        }
    }

    fileprivate var withoutExpectation: TransportRequest {
        @inline(never) get {
            var head = head
            head.fields.remove("expect")
            return TransportRequest(
                head: head, body: body, timeouts: timeouts, deadline: deadline, priority: priority,
                continueTimeout: continueTimeout)
        }
    }
}
