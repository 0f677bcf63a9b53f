internal import DunlinReactor
internal import DunlinTransport

/// A sending that is lent to interceptors while they run, and what they send of it, one exchange after another.
///
/// Each call of `next` is its own sending, which begins in the state that the previous one left. Its outcome counts for
/// the one that the interceptors surround, unless they have returned meanwhile: then the loan is over, and latecomers
/// find nothing.
///
/// Responses are not retained here: one that the interceptor drops is gone, and its connection is free. A response that
/// it keeps is discarded when it sends again, because two exchanges of one call could wait for each other's connection.
struct Loan: Sendable {
    /// A request of the interceptors'.
    struct Sent: Sendable {
        /// Cancels this exchange only.
        let cancellation: Cancellation
        /// What observers are told of its exchange; nil if nothing.
        var watched: ExchangeObservation?
        var hop: HTTP.Hop?
        /// Whether its response has not come yet.
        var isUnderWay = true
    }

    /// The state that the last request left.
    var sending: Sending
    /// What brings the response of a request of theirs, hop by hop; nil around a single exchange.
    let bring: Sending.Bring?
    /// The request that was sent last; nil if there was none.
    private(set) var last: Sent?
    /// What is known of the last response apart from itself.
    private(set) var traits: Sending.Arrival.Traits?
    /// The body from Dunlin's own sockets, if somebody still holds it.
    private(set) weak var stream: (any TransportResponse.BodyStream)?
    private weak var response: TransportResponse?
    /// The body that came with its head.
    private var bytes: Bytes?
    private var failure: NetworkError?

    init(_ sending: Sending, _ bring: Sending.Bring?) {
        (self.sending, self.bring) = (sending, bring)
    }

    mutating func begin(_ cancellation: Cancellation) {
        (last, stream, response, bytes) = (Sent(cancellation: cancellation), nil, nil, nil)
    }

    /// Notes a response: `response` is what the interceptors get, and `raw` what it was made from.
    mutating func received(
        _ response: TransportResponse, of raw: TransportResponse, _ traits: Sending.Arrival.Traits? = nil
    ) {
        (self.response, stream, failure, self.traits) = (response, raw.stream, nil, traits)
        bytes = if case .bytes(let bytes) = raw.body { bytes } else { nil }
        end(raw.hop)
    }

    /// Notes that the exchange with this cancellation failed. A request that is refused before it begins leaves the
    /// previous one as it is.
    mutating func failed(_ error: any Error, _ cancellation: Cancellation) {
        failure = error as? NetworkError
        if isLast(cancellation) { end(failure?.hop) }
    }

    private mutating func end(_ hop: HTTP.Hop?) {
        last?.hop = hop
        last?.isUnderWay = false
    }

    /// Takes over the state of a request of the interceptors', if it is the latest. What was sent counts in any case.
    mutating func adopt(_ own: inout Sending, _ adopt: (inout Sending, Sending) -> Void) {
        sending.sentRequests.add(own.sentRequests)
        own.sentRequests = sending.sentRequests
        guard isLast(own.cancellation) else { return }
        sending.count = own.count
        last?.watched = own.watched
        adopt(&sending, own)
    }

    private func isLast(_ cancellation: Cancellation) -> Bool { last?.cancellation === cancellation }

    /// Whether this is the last response received.
    func isLast(_ response: TransportResponse) -> Bool { self.response === response }

    /// Whether this response has the body of the last response received, whatever happened to the head.
    func hasLastBody(_ response: TransportResponse) -> Bool {
        switch response.body {
        case .bytes(let bytes): bytes == self.bytes
        case .stream(let stream): stream === self.stream
        }
    }

    /// The last exchange's error, if it explains the end of the call better than `error`.
    func explained(_ error: any Error) -> any Error {
        guard let error = error as? NetworkError, error.hop == nil, let failure, failure.code == error.code else {
            return error
        }
        return failure
    }
}

extension TransportResponse {
    var stream: (any TransportResponse.BodyStream)? {
        if case .stream(let stream) = body { stream } else { nil }
    }
}
