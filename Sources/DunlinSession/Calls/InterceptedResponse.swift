internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// What was last received for an interceptor, and is given up once the interceptor sends again: two exchanges of one
/// call would wait for each other's connection.
final class InterceptedResponse<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var response: TransportResponse?
        var failure: NetworkError?
        var hasBegun = false
    }

    private let state: Mutex<State>

    /// `value` belongs to whoever sends, from one sending to the next.
    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    var value: Value { state.withLock { $0.value } }

    func set(_ value: Value) { state.withLock { $0.value = value } }

    /// Whether this is the first request to be sent.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    func received(_ response: TransportResponse) {
        state.withLock { ($0.response, $0.failure) = (response, nil) }
    }

    func failed(_ error: any Error) {
        state.withLock { $0.failure = error as? NetworkError }
    }

    /// The response before, which nobody may read any more.
    func take() -> TransportResponse? { state.withLock { $0.response.take() } }

    /// The error of the exchange, if that says more exactly what `error` says.
    func explained(_ error: any Error) -> any Error {
        guard let error = error as? NetworkError, error.hop == nil, let failure = state.withLock({ $0.failure }),
            failure.code == error.code
        else { return error }
        return failure
    }
}

extension LiveCall {
    /// The response that an interceptor returned. A stream of its own is read within the call's limits, and `source` is
    /// what it may be reading from.
    func owned(_ response: TransportResponse, _ source: TransportResponse?) -> TransportResponse {
        guard case .stream(let stream) = response.body else {
            abandon(source)
            return response
        }
        guard let origin = source?.stream else { return bounded(response, stream, nil) }
        return origin === stream ? response : bounded(response, stream, origin)
    }

    private func bounded(
        _ response: TransportResponse, _ stream: any TransportResponse.BodyStream,
        _ source: (any TransportResponse.BodyStream)?
    ) -> TransportResponse {
        let body = ForeignBody(
            stream, callTransport, cancellation, on: loop, until: request.deadline, limit: request.timeouts.total,
            source: source)
        return response.with(.stream(body), response.hop)
    }

    /// Ends a response that an interceptor may still hold.
    func abandon(_ response: TransportResponse?) {
        guard let stream = response?.stream else { return }
        let error = NetworkError(
            .bodyConsumed, "the response was given up: its interceptor sent again, or returned another", phase: .receive
        )
        callTransport.abandon(stream, error)
    }
}

extension TransportResponse {
    fileprivate var stream: (any TransportResponse.BodyStream)? {
        if case .stream(let stream) = body { stream } else { nil }
    }
}
