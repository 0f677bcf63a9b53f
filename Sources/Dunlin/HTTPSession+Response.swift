extension HTTPSession {
    /// A response that has arrived whole, with what its serializer made of it.
    public struct Response<Value> {
        @usableFromInline let arrival: ResponseArrival
        public var value: Value

        public init(
            head: consuming ResponseHead, value: consuming Value, body: consuming Bytes = .empty,
            trailers: consuming Fields = Fields(), interim: consuming [ResponseHead] = [],
            metrics: consuming Metrics = Metrics()
        ) {
            arrival = ResponseArrival(head, body, trailers, interim, metrics)
            self.value = value
        }

        @usableFromInline init(_ arrival: ResponseArrival, _ value: consuming Value) {
            self.arrival = arrival
            self.value = value
        }

        /// The same response with another value.
        @inlinable public func with<Other>(value: consuming Other) -> Response<Other> {
            Response<Other>(arrival, value)
        }

        @inlinable public var head: ResponseHead { arrival.head }
        @inlinable public var status: Status { arrival.head.status }
        @inlinable public var fields: Fields { arrival.head.fields }
        /// The body as received.
        @inlinable public var body: Bytes { arrival.body }
        @inlinable public var trailers: Fields { arrival.trailers }
        /// Interim (1xx) responses that came first.
        @inlinable public var interim: [ResponseHead] { arrival.interim }
        /// How long each phase took, hop by hop.
        @inlinable public var metrics: Metrics { arrival.metrics }
    }
}

extension HTTPSession.Response: Sendable where Value: Sendable {}

/// Everything but the value: shared by copies and never changed, so that a response is cheap to pass on.
@usableFromInline final class ResponseArrival: Sendable {
    @usableFromInline let head: ResponseHead
    @usableFromInline let body: Bytes
    @usableFromInline let trailers: Fields
    @usableFromInline let interim: [ResponseHead]
    @usableFromInline let metrics: Metrics

    init(
        _ head: consuming ResponseHead, _ body: consuming Bytes, _ trailers: consuming Fields,
        _ interim: consuming [ResponseHead], _ metrics: consuming Metrics
    ) {
        self.head = head
        self.body = body
        self.trailers = trailers
        self.interim = interim
        self.metrics = metrics
    }
}
