extension HTTPSession {
    /// A response whose body is still arriving. It is valid within the scope it was passed to.
    public struct StreamedResponse: Sendable {
        public let head: ResponseHead
        /// Interim (1xx) responses that came first.
        public let interim: [ResponseHead]
        public private(set) var body: BodySequence
        /// The last hop as it was when the head had come.
        let hop: HTTP.Hop
        /// What the session says of content.
        let content: ContentSettings
        /// Whether those who ask for lines, events or values get them of a response with a status of 2xx only.
        let isValidated: Bool
        /// How much of a refused body an error carries.
        let keptBody: Int
        /// The URL that the response is from: the one that was asked for, or the one that the last redirect led to.
        /// Without user info.
        public let url: String
        /// The redirects that led here, the first one first.
        public let history: [HTTPSession.Redirect]
        /// The earlier attempts, if a retry policy had the request sent again.
        public let retries: [NetworkError.RetriedAttempt]
        let callHistory: CallHistory?
        /// The names that are left out of what is shown of it.
        let secretFields: HTTP.SecretFields
        /// Nanoseconds the call waited in a queue.
        var queued: Int64 = 0

        /// The response; `end` is called when it was read as far as it could be, and when its last copy is released.
        func owned(_ end: @escaping @Sendable ((any Error)?) -> Void) -> Self {
            var response = self
            response.body.owner = BodyOwner(end)
            return response
        }

        /// What the session's cache did, as far as it is known when this is asked; nil without a cache.
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
