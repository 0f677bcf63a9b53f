internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// What is sent and received within interceptors, one exchange after another.
///
/// Responses are not retained here: one that the interceptor drops is gone, and its connection is free. A response that
/// it keeps is discarded when it sends again, because two exchanges of one call could wait for each other's connection.
final class InterceptedResponse: Sendable {
    /// The request that was sent last.
    struct Sent: Sendable {
        /// The sending that it is.
        let id: SendingID
        /// Cancels this exchange only.
        let cancellation: Cancellation
        var hop: HTTP.Hop?
        /// The body from Dunlin's own sockets, if somebody still holds it.
        var stream: (any TransportResponse.BodyStream)?
        /// Whether its response has not come yet.
        var isUnderWay = true
    }

    private struct State {
        var sent: Sent?
        /// What is known of the last response apart from itself.
        var traits: LiveCall.Arrival.ResponseTraits?
        /// Whether the interceptors have returned; what is sent later does not change the call.
        var isOver = false
        weak var stream: (any TransportResponse.BodyStream)?
        weak var response: TransportResponse?
        /// The body that came with its head.
        var bytes: Bytes?
        var failure: NetworkError?

        var last: Sent? {
            var last = sent
            last?.stream = stream
            return last
        }

        mutating func end(_ hop: HTTP.Hop?) {
            sent?.hop = hop
            sent?.isUnderWay = false
        }
    }

    private let state = Mutex(State())

    /// Begins an exchange. Returns the previous one; throws if the interceptors have returned.
    func begin(_ id: SendingID, _ cancellation: Cancellation) throws -> Sent? {
        try state.withLock { state in
            if state.isOver { throw Self.isLate }
            defer {
                (state.sent, state.stream) = (Sent(id: id, cancellation: cancellation), nil)
                (state.response, state.bytes) = (nil, nil)
            }
            return state.last
        }
    }

    /// Notes a response: `response` is what the interceptors get, and `raw` what it was made from.
    func received(
        _ response: TransportResponse, of raw: TransportResponse, _ traits: LiveCall.Arrival.ResponseTraits? = nil
    ) {
        state.withLock { state in
            (state.response, state.stream, state.failure) = (response, raw.stream, nil)
            state.traits = traits
            state.bytes = if case .bytes(let bytes) = raw.body { bytes } else { nil }
            state.end(raw.hop)
        }
    }

    /// Notes that the exchange with this cancellation failed.
    func failed(_ error: any Error, _ cancellation: Cancellation) {
        state.withLock { state in
            state.failure = error as? NetworkError
            // A request that is refused before it begins leaves the previous one as it is.
            if state.sent?.cancellation === cancellation { state.end(state.failure?.hop) }
        }
    }

    /// The request that was sent last; nil if there was none.
    var last: Sent? { state.withLock { $0.last } }

    /// What is known of the last response apart from itself.
    var traits: LiveCall.Arrival.ResponseTraits? { state.withLock { $0.traits } }

    /// Throws once the interceptors have returned.
    func checkIsAwaited() throws {
        if state.withLock({ $0.isOver }) { throw Self.isLate }
    }

    private static var isLate: NetworkError {
        NetworkError(.interceptorFailed, "an interceptor called `next` after it had returned")
    }

    /// Notes that the interceptors have returned.
    func end() {
        state.withLock { $0.isOver = true }
    }

    /// Whether this cancellation belongs to the latest exchange and the interceptors still wait for it.
    func isAwaited(_ cancellation: Cancellation) -> Bool {
        state.withLock { !$0.isOver && $0.sent?.cancellation === cancellation }
    }

    /// Whether this is the last response received.
    func isLast(_ response: TransportResponse) -> Bool { state.withLock { $0.response === response } }

    /// Whether this response has the body of the last response received, whatever happened to the head.
    func hasLastBody(_ response: TransportResponse) -> Bool {
        state.withLock { state in
            switch response.body {
            case .bytes(let bytes): bytes == state.bytes
            case .stream(let stream): stream === state.stream
            }
        }
    }

    /// The last exchange's error, if it explains the end of the call better than `error`.
    func explained(_ error: any Error) -> any Error {
        guard let error = error as? NetworkError, error.hop == nil, let failure = state.withLock({ $0.failure }),
            failure.code == error.code
        else { return error }
        return failure
    }
}

extension TransportResponse {
    var stream: (any TransportResponse.BodyStream)? {
        if case .stream(let stream) = body { stream } else { nil }
    }
}
