extension HTTPSession {
    /// A response that has arrived whole, with what its serializer made of it.
    public struct Response<Value> {
        @usableFromInline let carried: TransportResponse
        /// What came before; nil for nothing.
        @usableFromInline let trail: Trail?
        public var value: Value

        public init(
            head: ResponseHead, value: consuming Value, body: Bytes = .empty, trailers: Fields = Fields(),
            interim: [ResponseHead] = [], metrics: Metrics = Metrics(), url: String = "", history: [Redirect] = []
        ) {
            var attempts = metrics.attempts
            let carried = TransportResponse(
                head: head, interim: interim, body: .bytes(body), trailers: trailers,
                attempt: attempts.popLast() ?? Attempt())
            self.init(carried, Trail(.init(attempts: attempts, redirects: history, madeURL: url)), value)
        }

        /// The answer to `request`, whose body has arrived whole.
        package init(_ carried: TransportResponse, _ body: Bytes, to request: TransportRequest, after trail: Trail?)
        where Value == Bytes {
            self.init(carried.answering(request), trail, body)
        }

        @usableFromInline init(_ carried: TransportResponse, _ trail: Trail?, _ value: consuming Value) {
            self.carried = carried
            self.trail = trail
            self.value = value
        }

        /// The same response to a request that waited in a queue before it was sent.
        func after(waiting time: Int64) -> Self {
            if trail?.attempts.isEmpty == false { return Self(carried, trail.after(waiting: time), value) }
            let attempt = carried.attempt
            guard attempt != Attempt() else { return self }
            return Self(carried.with(carried.body, attempt.after(waiting: time)), trail, value)
        }

        /// The same response with another value.
        @inlinable public func with<Other>(value: consuming Other) -> Response<Other> {
            Response<Other>(carried, trail, value)
        }

        @inlinable public var head: ResponseHead { carried.head }
        @inlinable public var status: Status { carried.head.status }
        @inlinable public var fields: Fields { carried.head.fields }
        /// The body as received.
        @inlinable public var body: Bytes { if case .bytes(let body) = carried.body { body } else { .empty } }
        public var trailers: Fields { carried.trailers }
        /// Interim (1xx) responses that came first.
        @inlinable public var interim: [ResponseHead] { carried.interim }
        /// What answered: the URL that was asked for, or the one that the last redirect led to. Without user info.
        public var url: String { carried.request?.head.url(after: trail) ?? trail?.steps.madeURL ?? "" }
        /// The redirects that led here, the first one first.
        public var history: [Redirect] { trail?.redirects ?? [] }
        /// The attempts before the one that was answered so, where a policy had the request tried again.
        public var retries: [RetriedAttempt] { trail?.tries?.retried ?? [] }
        /// The file that the body went to, if that was done with it.
        public var file: DownloadedFile? { trail?.steps.file }

        /// How long each phase took, hop by hop. None for a response that nobody fetched.
        public var metrics: Metrics {
            let last = carried.attempt
            return last == Attempt() ? Metrics() : Metrics(after: trail, last: last)
        }
    }
}

extension HTTPSession.Response {
    /// The charset that the Content-Type declares, if it does.
    public var charset: String? { head.charset }

    /// Type and subtype that the Content-Type declares, in lower case.
    package var mediaType: String? { head.mediaType }
}

extension HTTPSession.Response<Bytes> {
    /// What a serializer is given of it.
    @inlinable public var whole: HTTP.WholeResponse { HTTP.WholeResponse(head: head, body: body) }

    /// A serializer's error, with as much of the body as the request wants it to carry, and the attempts before.
    @usableFromInline func refused(_ error: any Error, keeping limit: Int) -> any Error {
        guard var error = (error as? NetworkError)?.carrying(body, upTo: limit) else { return error }
        error.note(trail?.tries)
        return error
    }
}

extension HTTPSession.Response: Sendable where Value: Sendable {}

extension RequestHead {
    /// What is asked for, with the fragment that never is.
    package func url(after trail: Trail?) -> String {
        origin.description + target + (trail?.fragment.map { "#\($0)" } ?? "")
    }
}
