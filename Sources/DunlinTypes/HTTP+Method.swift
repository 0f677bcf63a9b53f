extension HTTP {
    /// A request method: any token (RFC 9110 §9), case-sensitive. It is checked before a byte is sent, not here.
    public struct Method: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        public let rawValue: String

        @inlinable public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        @inlinable public init(stringLiteral rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        public static let get: HTTP.Method = "GET"
        public static let head: HTTP.Method = "HEAD"
        public static let post: HTTP.Method = "POST"
        public static let put: HTTP.Method = "PUT"
        public static let patch: HTTP.Method = "PATCH"
        public static let delete: HTTP.Method = "DELETE"
        public static let options: HTTP.Method = "OPTIONS"
        public static let trace: HTTP.Method = "TRACE"
        public static let connect: HTTP.Method = "CONNECT"
        /// A query whose body holds the question (RFC 10008): safe like GET, with a body like POST.
        public static let query: HTTP.Method = "QUERY"

        /// Whether the method asks for no change on the server (RFC 9110 §9.2.1, RFC 10008 §2).
        public var isSafe: Bool {
            switch rawValue {
            case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
            default: false
            }
        }

        /// Whether sending the method twice has the same effect as sending it once (RFC 9110 §9.2.2).
        public var isIdempotent: Bool {
            isSafe || rawValue == "PUT" || rawValue == "DELETE"
        }
    }
}
