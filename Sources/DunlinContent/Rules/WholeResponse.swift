extension HTTP {
    /// What a serializer gets: a head, and all of its body.
    public struct WholeResponse: Sendable {
        public let head: ResponseHead
        public let body: Bytes

        @inlinable public init(head: ResponseHead, body: Bytes) {
            self.head = head
            self.body = body
        }

        @inlinable public var status: HTTP.Status { head.status }
        @inlinable public var fields: Fields { head.fields }

        /// The charset that the Content-Type declares, if it does.
        public var charset: String? { head.charset }
    }
}
