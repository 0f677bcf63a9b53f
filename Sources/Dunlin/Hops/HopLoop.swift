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

    /// `start` is when the first hop began; `earlier` gets the attempts that others followed. Inlined, to cost each
    /// request no frame of its own.
    @inline(__always)
    func run(
        _ request: TransportRequest, _ delegate: TaskDelegate, since start: MonotonicTime, on loop: Reactor,
        _ earlier: inout [Attempt]?
    ) async throws -> TransportResponse {
        var start = start
        var request = request
        var machine = HopMachine()
        while true {
            guard delegate.begin() else { throw Self.over }
            do {
                let response = try await carrier.exchange(
                    request, delegate.interrupt, uploads, delegate.attendants, since: start, on: loop)
                switch machine.received(response.head.status, for: request) {
                case .send: start = loop.now()
                case .sendWithoutExpectation:
                    request = request.withoutExpectation
                    start = loop.now()
                case .deliver, .fail: return response
                }
                earlier = (earlier ?? []) + [response.attempt]
            } catch {
                guard machine.failed(error, isReplayable: request.body.isReplayable) == .send else {
                    throw request.explained(error)
                }
                request = request.onFreshConnection
                start = loop.now()
            }
        }
    }
}

extension TransportRequest {
    /// A server that is not trusted is told of with the URL that led to it.
    @inline(never)
    fileprivate func explained(_ error: any Error) -> any Error {
        NetworkError.explained(error, at: head.origin, url: head.origin.description + head.target)
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
