internal import DunlinCache
internal import DunlinReactor
internal import DunlinTransport

extension LiveCall {
    /// Discards a response that nobody reads, and gives back its connection. The rest of a small body is read first, so
    /// that the connection can be reused. Returns the hop; throws if the call is over.
    func discard(_ response: TransportResponse) async throws -> HTTP.Hop {
        guard case .stream(let body) = response.body else { return response.hop }
        return try await discard(body)
    }

    /// Discards a body in the same way.
    func discard(_ body: any TransportResponse.BodyStream) async throws -> HTTP.Hop {
        if callTransport.sockets != nil {
            let limit = loop.now().advanced(by: Self.longestWait.clampedNanoseconds)
            do {
                if let storing = body as? StoringBody {
                    try await drain(storing, until: limit)
                } else {
                    try await callTransport.drain(body, upTo: Self.smallBody, until: limit)
                }
            } catch {
                // The response's head has come and is enough. An error of its body counts only if it ends the call.
                if cancellation.cause != nil || loop.now() >= request.deadline { throw error }
            }
        }
        ReportingBody.leave(body)
        return CallTransport.source(of: body).hop
    }

    /// Reads the rest of a body that is being stored, such as the page of a redirect, so that it is stored too.
    private func drain(_ body: StoringBody, until limit: HTTP.Instant) async throws {
        var left = Self.smallBody
        if body.expectedLength ?? 0 <= left {
            try callTransport.hurry(body, until: limit)
            while left >= 0, let piece = try await body.next() { left -= piece.count }
        }
        // Closes the connection if the rest is too long; other bodies are at their end.
        try await callTransport.drain(body, upTo: 0, until: limit)
    }

    /// The number of bytes that cost less to read than a new connection, and how long reading them may take.
    private static var smallBody: Int { 64 * 1024 }
    private static var longestWait: Duration { .milliseconds(500) }
}
