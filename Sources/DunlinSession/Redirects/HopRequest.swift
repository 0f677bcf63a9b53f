extension HTTPSession {
    /// What one hop of a request sends.
    public struct RedirectRequest: Sendable {
        public var method: HTTP.Method
        /// Absolute, without user info.
        public var url: String
        public var fields: Fields
        public var body: RequestBody

        public init(method: HTTP.Method, url: String, fields: Fields = Fields(), body: RequestBody = .none) {
            self.method = method
            self.url = url
            self.fields = fields
            self.body = body
        }
    }
}
