extension NetworkError {
    /// The request that an error is about: `GET https://api.test/users/42`. Without user info, and without the values
    /// of a query whose names look like secrets.
    public struct RequestName: Sendable, Hashable, CustomStringConvertible {
        public var method: HTTP.Method
        /// The URL of the last hop, or the target as the program wrote it if no URL came of that.
        public var url: String

        public init(method: HTTP.Method, url: String) {
            self.method = method
            self.url = url
        }

        public var description: String { "\(method) \(url)" }
    }
}
