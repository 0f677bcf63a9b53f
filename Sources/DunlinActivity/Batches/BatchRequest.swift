extension HTTPSession {
    /// One request of a batch.
    public struct BatchRequest: Sendable {
        public var target: HTTP.Target
        public var method: HTTP.Method
        public var query: HTTP.Query
        public var body: RequestBody
        public var options: Options

        public init(
            _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
            body: RequestBody = .none,
            options: Options = Options()
        ) {
            self.target = target
            self.method = method
            self.query = query
            self.body = body
            self.options = options
        }
    }
}
