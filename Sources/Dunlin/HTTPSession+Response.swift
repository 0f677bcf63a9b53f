extension HTTPSession {
    /// A response that has arrived whole, with what its serializer made of it.
    public struct Response<Value> {
        private let arrival: ResponseArrival
        public var value: Value

        public init(
            head: consuming ResponseHead, value: consuming Value, body: consuming Bytes = .empty,
            trailers: consuming Fields = Fields(), interim: consuming [ResponseHead] = [],
            metrics: consuming Metrics = Metrics()
        ) {
            arrival = ResponseArrival(head, body, trailers, interim, metrics)
            self.value = value
        }

        fileprivate init(_ arrival: ResponseArrival, _ value: consuming Value) {
            self.arrival = arrival
            self.value = value
        }

        /// The same response with another value.
        public func with<Other>(value: consuming Other) -> Response<Other> {
            Response<Other>(arrival, value)
        }

        public var head: ResponseHead { arrival.head }
        public var status: Status { arrival.head.status }
        public var fields: Fields { arrival.head.fields }
        /// The body as received.
        public var body: Bytes { arrival.body }
        public var trailers: Fields { arrival.trailers }
        /// Interim (1xx) responses that came first.
        public var interim: [ResponseHead] { arrival.interim }
        /// How long each phase took, hop by hop.
        public var metrics: Metrics { arrival.metrics }
    }
}

extension HTTPSession.Response: Sendable where Value: Sendable {}

/// Everything but the value: shared by copies and never changed, so that a response is cheap to pass on.
private final class ResponseArrival: Sendable {
    let head: ResponseHead
    let body: Bytes
    let trailers: Fields
    let interim: [ResponseHead]
    let metrics: Metrics

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
