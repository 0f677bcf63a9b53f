extension TransportResponse {
    /// The properties that a copy of a response may change.
    public struct Changes: Sendable {
        public var head: ResponseHead
        public var body: TransportResponse.Body
        /// The trailer fields of a body that is in memory; a stream has its own.
        public var trailers: Fields
    }

    /// Returns a copy of the response, changed by `change`. The caller must keep the fields that describe the body,
    /// such as its length, correct. The copy reads the same stream unless it is given another body.
    public func with<Failure: Error>(_ change: (inout Changes) throws(Failure) -> Void) throws(Failure)
        -> TransportResponse
    {
        var changes = Changes(head: head, body: body, trailers: trailers)
        try change(&changes)
        return replacing(changes.head, changes.body, changes.trailers)
    }

    /// Returns the response with its whole body in memory. If the body has more bytes than `limit`, throws a
    /// `NetworkError` with code `limitExceeded` and discards the rest.
    public func collected(upTo limit: Int) async throws -> TransportResponse {
        guard case .stream(let stream) = body else {
            if case .bytes(let bytes) = body { try Self.check(bytes.count, limit) }
            return self
        }
        if let length = stream.expectedLength { try Self.check(length, limit) }
        let bytes = try await stream.readAll { try Self.check($0, limit) }
        return with(.bytes(bytes), stream.hop, trailers: stream.trailers)
    }

    private static func check(_ count: Int, _ limit: Int) throws {
        guard count > limit else { return }
        throw NetworkError(
            .limitExceeded, "the body has more than \(limit) bytes, the limit given to `collected(upTo:)`",
            phase: .receive,
            requestMayHaveBeenSent: true)
    }
}
