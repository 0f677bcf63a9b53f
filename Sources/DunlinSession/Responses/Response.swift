extension HTTPSession {
    /// A complete response, with the value that its serializer made from it.
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

        /// Creates the response to `request`, with its whole body.
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

        /// The response, with the time that its call waited in a queue added.
        func after(waiting time: Int64) -> Self {
            if callHistory?.hops.isEmpty == false { return Self(carried, callHistory.after(waiting: time), value) }
            let hop = carried.hop
            guard hop != HTTP.Hop() else { return self }
            return Self(carried.with(carried.body, hop.after(waiting: time)), callHistory, value)
        }

        /// Returns the same response with another value.
        @inlinable public func with<Other>(value: consuming Other) -> Response<Other> {
            Response<Other>(carried, callHistory, value)
        }

        @inlinable public var head: ResponseHead { carried.head }
        @inlinable public var status: HTTP.Status { carried.head.status }
        @inlinable public var fields: Fields { carried.head.fields }
        /// The body as received.
        @inlinable public var body: Bytes { if case .bytes(let body) = carried.body { body } else { .empty } }
        public var trailers: Fields { carried.trailers }
        /// The interim (1xx) responses that came before.
        @inlinable public var interim: [ResponseHead] { carried.interim }
        /// The URL of the response: the requested one, or that of the last redirect. Without user info.
        public var url: String { carried.request?.head.url(after: callHistory) ?? callHistory?.steps.madeURL ?? "" }
        /// The redirects that led here, in order.
        public var history: [HTTPSession.Redirect] { callHistory?.redirects ?? [] }
        /// The earlier attempts, if a retry policy sent the request again.
        public var retries: [NetworkError.RetriedAttempt] { callHistory?.retryHistory?.retried ?? [] }
        /// What the session's cache did; nil without a cache.
        public var cacheUse: CacheUse? { callHistory?.steps.cacheUse }
        /// The file that the body was written to; nil if there is none.
        public var file: DownloadedFile? { callHistory?.steps.file }

        /// How long each phase took, hop by hop. Empty for a response that was made and not received, except for the
        /// hops of earlier redirects and attempts.
        public var metrics: HTTPSession.Metrics {
            HTTPSession.Metrics(after: callHistory, last: carried.hop)
        }
    }
}

extension HTTPSession.Response {
    /// The charset that the Content-Type declares; nil if none.
    public var charset: String? { head.charset }

    /// The declared type and subtype, in lower case; nil if none.
    package var mediaType: String? { head.mediaType }
}

extension HTTPSession.Response<Bytes> {
    /// The response as a serializer gets it.
    @inlinable public var whole: HTTP.WholeResponse { HTTP.WholeResponse(head: head, body: body) }

    /// A serializer's error, with the request's name, as much of the body as the request's options allow, and the
    /// earlier attempts.
    @usableFromInline func refused(
        _ error: any Error, _ rules: ErrorRules, to body: RequestBody
    ) -> any Error {
        let whole = self.whole
        let known = (error as? DecodingError).map { NetworkError(decoding: $0, of: whole) } ?? error as? NetworkError
        guard var error = known?.carrying(self.body, upTo: rules.keptBody) else { return error }
        error.showsBody = rules.showsBody
        // Of a body that was cut nothing can be read.
        error.read(self.body, rules)
        if error.request == nil, let sent = carried.request {
            var source = RequestRecord.Source(sent)
            // A redirect with another method drops the body.
            let isSame = callHistory?.redirects.allSatisfy { $0.method == sent.head.method } ?? true
            if isSame { source.body = body }
            error.name(source, callHistory, rules)
        }
        if error.hop == nil, carried.hop != HTTP.Hop() { error.hop = carried.hop }
        // An error that a serializer brought from elsewhere has its own history.
        let isRefusal = error.code == .unacceptableStatus || error.code == .unacceptableContentType
        if isRefusal, error.retries.isEmpty, error.retryRefusal == nil { error.note(callHistory?.retryHistory) }
        return error
    }
}

extension HTTPSession.Response: Sendable where Value: Sendable {}

extension RequestHead {
    /// The requested URL with its fragment, which is never sent.
    package func url(after callHistory: CallHistory?) -> String {
        origin.description + target + (callHistory?.fragment.map { "#\($0)" } ?? "")
    }
}
