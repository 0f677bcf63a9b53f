extension HTTPSession {
    /// A response that has arrived whole, with what its serializer made of it.
    public struct Response<Value> {
        public var head: ResponseHead
        public var value: Value
        /// The body as received.
        public var body: Bytes
        public var trailers: Fields
        /// Interim (1xx) responses that came first.
        public var interim: [ResponseHead]
        /// How long each phase took, hop by hop.
        public var metrics: Metrics

        public init(
            head: ResponseHead, value: Value, body: Bytes = .empty, trailers: Fields = Fields(),
            interim: [ResponseHead] = [], metrics: Metrics = Metrics()
        ) {
            self.head = head
            self.value = value
            self.body = body
            self.trailers = trailers
            self.interim = interim
            self.metrics = metrics
        }

        public var status: Status { head.status }
        public var fields: Fields { head.fields }
    }
}

extension HTTPSession.Response: Sendable where Value: Sendable {}
