extension HTTPSession {
    /// What one request does differently from its session.
    public struct Options: Sendable {
        /// Each field here replaces the session's fields of the same name.
        public var fields: Fields
        /// Instead of the session's.
        public var timeouts: Timeouts?
        /// Instead of the session's `limits.bodyBytes`.
        public var bodyBytes: Int?
        /// Whether a status other than 2xx, or a content type that the serializer does not expect, is an error.
        public var validatesResponse: Bool
        /// Whether gzip and deflate are taken off the response. Without, the body is what was on the wire.
        public var decodesContent: Bool
        /// The user's own name for the request; shows in the registry.
        public var label: String?
        /// Who goes first when requests wait for a connection. It overtakes those who wait already, not those who run.
        public var priority: RequestPriority
        /// What the request says of its connection.
        @usableFromInline var route: RequestRoute?

        @inlinable public init(
            fields: Fields = Fields(), timeouts: Timeouts? = nil, bodyBytes: Int? = nil,
            validatesResponse: Bool = true, decodesContent: Bool = true, label: String? = nil,
            priority: RequestPriority = .normal
        ) {
            self.fields = fields
            self.timeouts = timeouts
            self.bodyBytes = bodyBytes
            self.validatesResponse = validatesResponse
            self.decodesContent = decodesContent
            self.label = label
            self.priority = priority
        }

        /// Counts before the session's `hosts`.
        public var connectTo: HostOverrides {
            get { route?.hosts ?? HostOverrides() }
            set { route = RequestRoute(newValue, sockets) }
        }

        /// Instead of the session's. The request uses a connection opened with just these.
        public var sockets: SocketOptions? {
            get { route?.sockets }
            set { route = RequestRoute(connectTo, newValue) }
        }
    }
}
