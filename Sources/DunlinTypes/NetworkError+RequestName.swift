extension NetworkError {
    /// The request that an error is about: `GET https://api.test/users/42`. User info, and query values whose names
    /// look secret, are left out.
    public struct RequestName: Sendable, Hashable, CustomStringConvertible {
        public var method: HTTP.Method
        /// The URL of the last hop; if there was none, the target as the program wrote it.
        public var url: String

        public init(method: HTTP.Method, url: String) {
            self.method = method
            self.url = url
        }

        public var description: String { "\(method) \(url)" }
    }
}
