extension HTTPSession {
    /// A response that has arrived whole, with the value that its serializer made of it.
    public struct Response<Value> {
        @usableFromInline let carried: TransportResponse
        /// The earlier hops and redirects; nil if there were none.
        @usableFromInline let callHistory: CallHistory?
        public var value: Value

        public init(
            head: ResponseHead, value: consuming Value, body: Bytes = .empty, trailers: Fields = Fields(),
            interim: [ResponseHead] = [], metrics: HTTPSession.Metrics = HTTPSession.Metrics(), url: String = "",
            history: [HTTPSession.Redirect] = []
        ) {
            var hops = metrics.hops
            let carried = TransportResponse(
                head: head, interim: interim, body: .bytes(body), trailers: trailers,
                hop: hops.popLast() ?? HTTP.Hop())
            self.init(carried, CallHistory(.init(hops: hops, redirects: history, madeURL: url)), value)
        }

        /// The answer to `request`, whose body has arrived whole.
        package init(
            _ carried: TransportResponse, _ body: Bytes, to request: TransportRequest, after callHistory: CallHistory?
        )
        where Value == Bytes {
            self.init(carried.answering(request), callHistory, body)
        }

        @usableFromInline init(_ carried: TransportResponse, _ callHistory: CallHistory?, _ value: consuming Value) {
            self.carried = carried
            self.callHistory = callHistory
            self.value = value
        }

        /// The response, with the time added that its call waited in a queue.
        func after(waiting time: Int64) -> Self {
            if callHistory?.hops.isEmpty == false { return Self(carried, callHistory.after(waiting: time), value) }
            let hop = carried.hop
            guard hop != HTTP.Hop() else { return self }
            return Self(carried.with(carried.body, hop.after(waiting: time)), callHistory, value)
        }

        /// The same response with another value.
        @inlinable public func with<Other>(value: consuming Other) -> Response<Other> {
            Response<Other>(carried, callHistory, value)
        }

        @inlinable public var head: ResponseHead { carried.head }
        @inlinable public var status: HTTP.Status { carried.head.status }
        @inlinable public var fields: Fields { carried.head.fields }
        /// The body as received.
        @inlinable public var body: Bytes { if case .bytes(let body) = carried.body { body } else { .empty } }
        public var trailers: Fields { carried.trailers }
        /// Interim (1xx) responses that came first.
        @inlinable public var interim: [ResponseHead] { carried.interim }
        /// The URL that the response is from: the one that was asked for, or the one that the last redirect led to.
        /// Without user info.
        public var url: String { carried.request?.head.url(after: callHistory) ?? callHistory?.steps.madeURL ?? "" }
        /// The redirects that led here, the first one first.
        public var history: [HTTPSession.Redirect] { callHistory?.redirects ?? [] }
        /// The earlier attempts, if a retry policy had the request sent again.
        public var retries: [NetworkError.RetriedAttempt] { callHistory?.retryHistory?.retried ?? [] }
        /// What the session's cache did; nil without a cache.
        public var cacheUse: CacheUse? { callHistory?.steps.cacheUse }
        /// The file that the body was written to, if it was.
        public var file: DownloadedFile? { callHistory?.steps.file }

        /// How long each phase took, hop by hop. Empty for a response that was made and not fetched; one that was made
        /// after redirects or other attempts has the hops of these.
        public var metrics: HTTPSession.Metrics {
            HTTPSession.Metrics(after: callHistory, last: carried.hop)
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
    /// What a serializer gets of the response.
    @inlinable public var whole: HTTP.WholeResponse { HTTP.WholeResponse(head: head, body: body) }

    /// A serializer's error, with the request's name, as much of the body as the request's options say, and the earlier
    /// attempts.
    @usableFromInline func refused(
        _ error: any Error, _ rules: ErrorRules, to body: RequestBody
    ) -> any Error {
        let whole = self.whole
        let known = (error as? DecodingError).map { NetworkError(decoding: $0, of: whole) } ?? error as? NetworkError
        guard var error = known?.carrying(self.body, upTo: rules.keptBody) else { return error }
        error.showsBody = rules.showsBody
        if error.request == nil, let sent = carried.request {
            var source = RequestRecord.Source(sent)
            // A redirect with another method leaves the body behind.
            let isSame = callHistory?.redirects.allSatisfy { $0.method == sent.head.method } ?? true
            if isSame { source.body = body }
            error.name(source, callHistory, rules)
        }
        if error.hop == nil, carried.hop != HTTP.Hop() { error.hop = carried.hop }
        // What a serializer brings from elsewhere has a history of its own.
        let isRefusal = error.code == .unacceptableStatus || error.code == .unacceptableContentType
        if isRefusal, error.retries.isEmpty, error.retryRefusal == nil { error.note(callHistory?.retryHistory) }
        return error
    }
}

extension HTTPSession.Response: Sendable where Value: Sendable {}

extension RequestHead {
    /// The URL that is asked for, with the fragment, which is never sent.
    package func url(after callHistory: CallHistory?) -> String {
        origin.description + target + (callHistory?.fragment.map { "#\($0)" } ?? "")
    }
}
