extension HTTPSession {
    /// What comes after an interceptor: the next one, and in the end what sends.
    public struct Next: Sendable {
        /// The request it is about, as the registry shows it; nil for an interceptor that is tried alone.
        public let task: TaskSnapshot?
        /// Around an exchange, how often the request has been sent with this one, an interceptor's own sendings left
        /// out; 1 around a call.
        public let hop: Int
        /// What the session's calls share.
        let owner: (any Sendable)?
        private let send: @Sendable (TransportRequest) async throws -> TransportResponse

        /// Sends through a transport: for an interceptor that is tried alone.
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

        /// Sends the request, and returns the response once its head has come. A body that is streamed comes as it is
        /// read.
        public func callAsFunction(_ request: TransportRequest) async throws -> TransportResponse {
            try await send(request)
        }

        /// Sends the request as `change` makes it.
        public func callAsFunction(
            _ request: TransportRequest, _ change: (inout TransportRequest.Changes) throws -> Void
        ) async throws -> TransportResponse {
            try await send(try request.with(change))
        }
    }
}

extension HTTPSession.Next: CustomStringConvertible, CustomReflectable {
    /// The request that it is about, and how often that has been sent.
    public var description: String { "Next(\(task.map { "\($0), " } ?? "")hop \(hop))" }

    /// Nothing of the session behind it.
    public var customMirror: Mirror {
        Mirror(self, children: ["task": task as Any, "hop": hop], displayStyle: .struct)
    }
}
