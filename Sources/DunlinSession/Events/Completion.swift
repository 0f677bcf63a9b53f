extension HTTPSession {
    /// How a request ended.
    public struct Completion: Sendable {
        public var task: HTTPSession.TaskSnapshot
        /// What was asked, without user info.
        public var url: String
        /// Nil if no response came that was delivered.
        public var response: ResponseHead?
        /// The response's body as received; nil if it was not read as a whole.
        public var body: Bytes?
        /// The file that the body went to, if that was done with it.
        public var file: DownloadedFile?
        /// What the serializer made of it, if that may be shared: of a request that was made through a handle.
        public var value: (any Sendable)?
        /// Nil for a stream and for a download.
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
