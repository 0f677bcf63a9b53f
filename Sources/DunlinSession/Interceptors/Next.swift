extension HTTPSession {
    /// What comes after an interceptor: the next interceptor, and finally sending.
    public struct Next: Sendable {
        /// The request, as in the registry; nil for an interceptor that is tested alone.
        public let task: TaskSnapshot?
        /// Around an exchange, how often the request has been sent, including this time but not an interceptor's own
        /// sendings; 1 around a call.
        public let hop: Int
        /// The core of the session.
        let owner: (any Sendable)?
        private let send: @Sendable (TransportRequest) async throws -> TransportResponse

        /// Creates a `Next` that sends through a transport, to test an interceptor alone.
        public init(_ transport: any Transport, hop: Int = 1) {
            (task, owner, self.hop) = (nil, nil, hop)
            send = { try await transport.exchange($0) }
        }

        init(
            _ task: TaskSnapshot, _ owner: any Sendable, hop: Int,
            _ send: @escaping @Sendable (TransportRequest) async throws -> TransportResponse
        ) {
            (self.task, self.owner, self.hop, self.send) = (task, owner, hop, send)
        }

        /// Sends the request. Returns the response when its head has come; a streamed body arrives as it is read.
        public func callAsFunction(_ request: TransportRequest) async throws -> TransportResponse {
            try await send(request)
        }

        /// Sends the request after `change` has changed it.
        public func callAsFunction(
            _ request: TransportRequest, _ change: (inout TransportRequest.Changes) throws -> Void
        ) async throws -> TransportResponse {
            try await send(try request.with(change))
        }
    }
}

extension HTTPSession.Next: CustomStringConvertible, CustomReflectable {
    /// The request, and how often it has been sent.
    public var description: String { "Next(\(task.map { "\($0), " } ?? "")hop \(hop))" }

    /// Hides the session.
    public var customMirror: Mirror {
        Mirror(self, children: ["task": task as Any, "hop": hop], displayStyle: .struct)
    }
}
