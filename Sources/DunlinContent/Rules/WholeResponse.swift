extension HTTP {
    /// The input of a serializer: a head and all of its body.
    public struct WholeResponse: Sendable {
        public let head: ResponseHead
        public let body: Bytes
        /// The session's settings for content; nil for the usual ones.
        @usableFromInline package var settings: ContentSettings?

        @inlinable public init(head: ResponseHead, body: Bytes) {
            self.head = head
            self.body = body
        }

        @inlinable public var status: HTTP.Status { head.status }
        @inlinable public var fields: Fields { head.fields }

        /// How the session reads JSON.
        public var json: HTTP.JSON { settings?.json ?? .standard }

        /// The charset that the Content-Type declares; nil if none.
        public var charset: String? { head.charset }
    }
}
