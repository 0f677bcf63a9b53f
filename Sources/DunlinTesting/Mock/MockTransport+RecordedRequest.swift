public import DunlinTypes

extension MockTransport {
    /// A request as a session passed it to the transport.
    public struct RecordedRequest: Sendable {
        public let method: HTTP.Method
        public let origin: HTTP.Origin
        /// Path and query, as in a request line.
        public let target: String
        public let fields: Fields
        public let timeouts: Timeouts
        /// The part of the body that has been sent: all of it once `isComplete`.
        public internal(set) var body = Bytes.empty
        /// Whether the body was sent completely; stays false if that failed.
        public internal(set) var isComplete = false

        /// The target up to its query.
        public var path: String { String(target.prefix { $0 != "?" }) }

        /// The part after the first question mark, still encoded; nil without one.
        public var query: String? {
            target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        }

        init(_ request: TransportRequest) {
            method = request.head.method
            origin = request.head.origin
            target = request.head.target
            fields = request.head.fields
            timeouts = request.timeouts
        }
    }
}
