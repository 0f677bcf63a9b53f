extension HTTPSession {
    /// A response that has arrived whole, with what its serializer made of it.
    public struct Response<Value> {
        @usableFromInline let arrival: ResponseArrival
        public var value: Value

        public init(
            head: ResponseHead, value: consuming Value, body: Bytes = .empty, trailers: Fields = Fields(),
            interim: [ResponseHead] = [], metrics: Metrics = Metrics()
        ) {
            var attempts = metrics.attempts
            let carried = TransportResponse(
                head: head, interim: interim, body: .bytes(body), attempt: attempts.popLast() ?? Attempt())
            arrival = ResponseArrival(carried, body, trailers, after: attempts.isEmpty ? nil : attempts)
            self.value = value
        }

        init(
            _ carried: TransportResponse, _ body: Bytes, _ trailers: Fields?, after earlier: [Attempt]?
        ) where Value == Bytes {
            arrival = ResponseArrival(carried, body, trailers, after: earlier)
            value = body
        }

        @usableFromInline init(_ arrival: ResponseArrival, _ value: consuming Value) {
            self.arrival = arrival
            self.value = value
        }

        /// The same response with another value.
        @inlinable public func with<Other>(value: consuming Other) -> Response<Other> {
            Response<Other>(arrival, value)
        }

        @inlinable public var head: ResponseHead { arrival.carried.head }
        @inlinable public var status: Status { arrival.carried.head.status }
        @inlinable public var fields: Fields { arrival.carried.head.fields }
        /// The body as received.
        @inlinable public var body: Bytes { arrival.body }
        @inlinable public var trailers: Fields { arrival.trailers ?? arrival.carried.trailers }
        /// Interim (1xx) responses that came first.
        @inlinable public var interim: [ResponseHead] { arrival.carried.interim }
        /// How long each phase took, hop by hop.
        public var metrics: Metrics { arrival.metrics }
    }
}

extension HTTPSession.Response: Sendable where Value: Sendable {}

/// Everything but the value: shared by copies and never changed, so that a response is cheap to pass on.
@usableFromInline final class ResponseArrival: Sendable {
    @usableFromInline let carried: TransportResponse
    @usableFromInline let body: Bytes
    /// What a body that was streamed brought; nil if it was here at once.
    @usableFromInline let trailers: Fields?
    /// The attempts before the one that brought this; nil for none.
    private let earlier: [Attempt]?

    init(_ carried: TransportResponse, _ body: Bytes, _ trailers: Fields?, after earlier: [Attempt]?) {
        self.carried = carried
        self.body = body
        self.trailers = trailers
        self.earlier = earlier
    }

    /// None for a response that nobody fetched, such as one that a test made.
    var metrics: Metrics {
        let last = carried.attempt
        return last == Attempt() ? Metrics() : Metrics(earlier: earlier, last: last)
    }
}
