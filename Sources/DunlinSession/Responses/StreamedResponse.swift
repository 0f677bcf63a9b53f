extension HTTPSession {
    /// A response whose body is still arriving. One that was passed to a scope is valid within it.
    public struct StreamedResponse: Sendable {
        public let head: ResponseHead
        /// The interim (1xx) responses that came before.
        public let interim: [ResponseHead]
        public private(set) var body: BodySequence
        /// The last hop at the time when the head came.
        let hop: HTTP.Hop
        /// The session's settings for content.
        let content: ContentSettings
        /// Whether lines, events and values can be read only if the status is 2xx.
        let isValidated: Bool
        /// How many bytes of a refused body an error carries.
        let keptBody: Int
        /// The URL of the response: the requested one, or that of the last redirect. Without user info.
        public let url: String
        /// The redirects that led here, in order.
        public let history: [HTTPSession.Redirect]
        /// The earlier attempts, if a retry policy sent the request again.
        public let retries: [NetworkError.RetriedAttempt]
        let callHistory: CallHistory?
        /// The names whose values are not shown.
        let secretFields: HTTP.SecretFields
        /// Who was asked last, also if an interceptor changed that.
        let origin: HTTP.Origin
        /// How long the call waited in a queue, in nanoseconds.
        var queued: Int64 = 0

        /// The response with an owner; `end` is called when it has been read as far as possible, and when its last copy
        /// is released.
        func owned(_ end: @escaping @Sendable ((any Error)?) -> Void) -> Self {
            var response = self
            response.body.owner = BodyOwner(end)
            return response
        }

        /// What the session's cache did, as far as known at the time of access; nil without a cache.
        public var cacheUse: CacheUse? { callHistory?.steps.cacheUse }
        public var status: HTTP.Status { head.status }
        public var fields: Fields { head.fields }

        /// How long each phase has taken so far, hop by hop.
        public var metrics: HTTPSession.Metrics {
            var last = hop
            if case .stream(let stream) = body.source.body, stream.hop != HTTP.Hop() { last = stream.hop }
            return HTTPSession.Metrics(after: callHistory, last: last).after(waiting: queued)
        }
    }
}
