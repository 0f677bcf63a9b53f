extension HTTPSession {
    /// The end of a request: its outcome, and how it came about.
    public struct Completion: Sendable {
        public var task: HTTPSession.TaskSnapshot
        /// The requested URL, without user info.
        public var url: String
        /// The head of the delivered response; nil if there was none.
        public var response: ResponseHead?
        /// The response's body as received; nil if it was not read as a whole.
        public var body: Bytes?
        /// The file that the body was written to; nil if there was none.
        public var file: DownloadedFile?
        /// The serializer's value, if it may be shared, which is so for a request made through a handle.
        public var value: (any Sendable)?
        /// The request's serializer; nil for streams and downloads.
        public var serializer: (any ResponseSerializer)?
        public var error: (any Error)?
        public var metrics: HTTPSession.Metrics

        init(
            task: HTTPSession.TaskSnapshot, url: String, response: ResponseHead?, body: Bytes? = nil,
            file: DownloadedFile? = nil, serializer: (any ResponseSerializer)? = nil, metrics: HTTPSession.Metrics
        ) {
            self.task = task
            self.url = url
            self.response = response
            self.body = body
            self.file = file
            self.serializer = serializer
            self.metrics = metrics
        }
    }
}
