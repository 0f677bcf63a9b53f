extension HTTPSession {
    /// A response that has arrived whole, with what its serializer made of it.
    public struct Response<Value> {
        @usableFromInline let arrival: ResponseArrival
        public var value: Value

        public init(
            head: ResponseHead, value: consuming Value, body: Bytes = .empty, trailers: Fields = Fields(),
            interim: [ResponseHead] = [], metrics: Metrics = Metrics()
        ) {
            let carried = TransportResponse(head: head, interim: interim, body: .bytes(body))
            arrival = ResponseArrival(carried, body, trailers, metrics)
            self.value = value
        }

        init(
            _ carried: TransportResponse, _ body: Bytes, _ trailers: Fields?, _ metrics: Metrics
        ) where Value == Bytes {
            arrival = ResponseArrival(carried, body, trailers, metrics)
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
        @inlinable public var metrics: Metrics { arrival.metrics }
    }
}

extension HTTPSession.Response: Sendable where Value: Sendable {}

/// Everything but the value: shared by copies and never changed, so that a response is cheap to pass on.
@usableFromInline final class ResponseArrival: Sendable {
    @usableFromInline let carried: TransportResponse
    @usableFromInline let body: Bytes
    /// What a body that was streamed brought; nil if it was here at once.
    @usableFromInline let trailers: Fields?
    @usableFromInline let metrics: Metrics

    init(_ carried: TransportResponse, _ body: Bytes, _ trailers: Fields?, _ metrics: Metrics) {
        self.carried = carried
        self.body = body
        self.trailers = trailers
        self.metrics = metrics
    }
}
