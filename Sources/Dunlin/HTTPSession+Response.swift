extension HTTPSession {
    /// A response that has arrived whole, with what its serializer made of it.
    public struct Response<Value> {
        @usableFromInline let arrival: ResponseArrival
        public var value: Value

        public init(
            head: ResponseHead, value: consuming Value, body: Bytes = .empty, trailers: Fields = Fields(),
            interim: [ResponseHead] = [], metrics: Metrics = Metrics(), url: String = "", history: [Redirect] = []
        ) {
            var attempts = metrics.attempts
            let carried = TransportResponse(
                head: head, interim: interim, body: .bytes(body), attempt: attempts.popLast() ?? Attempt())
            arrival = ResponseArrival(carried, body, trailers, of: nil, after: Trail(attempts, history, madeURL: url))
            self.value = value
        }

        init(
            _ carried: TransportResponse, _ body: Bytes, _ trailers: Fields?, of request: consuming TransportRequest,
            after trail: Trail?
        ) where Value == Bytes {
            if !request.body.isNone { request = request.withoutBody }
            arrival = ResponseArrival(carried, body, trailers, of: request, after: trail)
            value = body
        }

        @usableFromInline init(_ arrival: ResponseArrival, _ value: consuming Value) {
            self.arrival = arrival
            self.value = value
        }

        /// The same response to a request that waited in a queue before it was sent.
        func after(waiting time: Int64) -> Self {
            Self(arrival.after(waiting: time), value)
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
        /// What answered: the URL that was asked for, or the one that the last redirect led to. Without user info.
        public var url: String { arrival.url }
        /// The redirects that led here, the first one first.
        public var history: [Redirect] { arrival.history }
        /// The attempts before the one that was answered so, where a policy had the request tried again.
        public var retries: [RetriedAttempt] { arrival.tries?.retried ?? [] }
        /// The file that the body went to, if that was done with it.
        public var file: DownloadedFile? { arrival.file }
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
    /// What this is the answer to; without its body, which would be kept with the response. Nil for a response that
    /// nobody fetched, such as one that a test made.
    private let request: TransportRequest?
    /// What came before; nil for nothing.
    private let trail: Trail?

    init(
        _ carried: TransportResponse, _ body: Bytes, _ trailers: Fields?, of request: consuming TransportRequest?,
        after trail: Trail?
    ) {
        self.carried = carried
        self.body = body
        self.trailers = trailers
        self.request = request
        self.trail = trail
    }

    /// None for a response that nobody fetched.
    var metrics: Metrics {
        let last = carried.attempt
        return last == Attempt() ? Metrics() : Metrics(after: trail, last: last)
    }

    func after(waiting time: Int64) -> ResponseArrival {
        if let trail, !trail.attempts.isEmpty {
            return ResponseArrival(carried, body, trailers, of: request, after: trail.after(waiting: time))
        }
        let attempt = carried.attempt
        guard attempt != Attempt() else { return self }
        let later = carried.with(carried.body, attempt.after(waiting: time))
        return ResponseArrival(later, body, trailers, of: request, after: trail)
    }

    var url: String { request?.head.url(after: trail) ?? trail?.madeURL ?? "" }

    var history: [Redirect] { trail?.redirects ?? [] }

    var file: HTTPSession.DownloadedFile? { trail?.file }

    var tries: Tries? { trail?.tries }
}

extension RequestHead {
    /// What is asked for, with the fragment that never is.
    func url(after trail: Trail?) -> String {
        origin.description + target + (trail?.fragment.map { "#\($0)" } ?? "")
    }
}

extension TransportRequest {
    fileprivate var withoutBody: TransportRequest {
        @inline(never) get { TransportRequest(head: head, timeouts: timeouts, deadline: deadline, priority: priority) }
    }
}
