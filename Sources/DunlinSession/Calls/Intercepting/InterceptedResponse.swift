internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// What is sent and received within interceptors, one exchange after the other.
///
/// A response is not kept here: one that the interceptor drops is gone, and its connection is free. What the
/// interceptor keeps is given up once it sends again, for two exchanges of one call would wait for each other's
/// connection.
final class InterceptedResponse: Sendable {
    /// What was sent last.
    struct Sent: Sendable {
        /// Cancels that exchange alone.
        let cancellation: Cancellation
        var hop: HTTP.Hop?
        /// The body of our own sockets, if somebody still holds it.
        var stream: (any TransportResponse.BodyStream)?
        /// Whether its response has not come yet.
        var isUnderWay = true
    }

    private struct State {
        var sent: Sent?
        /// What is known of the last response beside itself.
        var nature: LiveCall.Arrival.Nature?
        /// Whether the interceptors have returned: what is sent later changes the call no more.
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

    /// An exchange begins. Returns the one before; throws once the interceptors have returned.
    func begin(_ cancellation: Cancellation) throws -> Sent? {
        try state.withLock { state in
            if state.isOver { throw Self.isLate }
            defer {
                (state.sent, state.stream) = (Sent(cancellation: cancellation), nil)
                (state.response, state.bytes) = (nil, nil)
            }
            return state.last
        }
    }

    /// `response` is what the interceptors get, and `raw` what it was made of.
    func received(
        _ response: TransportResponse, of raw: TransportResponse, _ nature: LiveCall.Arrival.Nature? = nil
    ) {
        state.withLock { state in
            (state.response, state.stream, state.failure) = (response, raw.stream, nil)
            state.nature = nature
            state.bytes = if case .bytes(let bytes) = raw.body { bytes } else { nil }
            state.end(raw.hop)
        }
    }

    /// `cancellation` is that of the exchange that failed.
    func failed(_ error: any Error, _ cancellation: Cancellation) {
        state.withLock { state in
            state.failure = error as? NetworkError
            // What is refused before it begins leaves the one before as it is.
            if state.sent?.cancellation === cancellation { state.end(state.failure?.hop) }
        }
    }

    /// What was sent last; nil before anything was.
    var last: Sent? { state.withLock { $0.last } }

    /// What is known of the response that was received last, beside itself.
    var nature: LiveCall.Arrival.Nature? { state.withLock { $0.nature } }

    /// Throws once the interceptors have returned.
    func checkIsAwaited() throws {
        if state.withLock({ $0.isOver }) { throw Self.isLate }
    }

    private static var isLate: NetworkError {
        NetworkError(.interceptorFailed, "an interceptor called `next` after it had returned")
    }

    /// The interceptors have returned.
    func end() {
        state.withLock { $0.isOver = true }
    }

    /// Whether what this cancels is what was sent last, and the interceptors still wait for it.
    func isAwaited(_ cancellation: Cancellation) -> Bool {
        state.withLock { !$0.isOver && $0.sent?.cancellation === cancellation }
    }

    /// Whether this is the response that was received last.
    func isLast(_ response: TransportResponse) -> Bool { state.withLock { $0.response === response } }

    /// Whether the body of this response is that of the one received last, whatever became of the head.
    func hasLastBody(_ response: TransportResponse) -> Bool {
        state.withLock { state in
            switch response.body {
            case .bytes(let bytes): bytes == state.bytes
            case .stream(let stream): stream === state.stream
            }
        }
    }

    /// The error of the last exchange, if that says more exactly why the call is over than `error` does.
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
