extension HTTPSession {
    /// The request that one hop sends.
    public struct RedirectRequest: Sendable {
        public var method: HTTP.Method
        /// The absolute URL, without user info.
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
