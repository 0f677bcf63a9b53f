public import DunlinTypes

extension MockTransport {
    /// A request as a session handed it to the transport.
    public struct RecordedRequest: Sendable {
        public let method: HTTP.Method
        public let origin: HTTP.Origin
        /// Path and query, as they would stand in the request line.
        public let target: String
        public let fields: Fields
        public let timeouts: Timeouts
        /// What has been sent of the body: all of it once `isComplete`.
        public internal(set) var body = Bytes.empty
        /// False while the body is on its way, and for good when that failed.
        public internal(set) var isComplete = false

        /// The target up to its query.
        public var path: String { String(target.prefix { $0 != "?" }) }

        /// What follows the first question mark, still encoded; nil if there is none.
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
