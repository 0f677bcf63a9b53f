internal import DunlinCache
internal import DunlinReactor
internal import DunlinTransport

extension LiveCall {
    /// Gives back the connection of a response that nobody reads. What is left of a small body is read first, so that
    /// the connection can be used again. Returns how the hop went; throws if the call is over.
    func discard(_ response: TransportResponse) async throws -> HTTP.Hop {
        guard case .stream(let body) = response.body else { return response.hop }
        return try await discard(body)
    }

    /// As above, of a body.
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
        return CallTransport.source(of: body).hop
    }

    /// What is read of a body that is being stored is stored, such as the page of a redirect.
    private func drain(_ body: StoringBody, until limit: HTTP.Instant) async throws {
        var left = Self.smallBody
        if body.expectedLength ?? 0 <= left {
            try callTransport.hurry(body, until: limit)
            while left >= 0, let piece = try await body.next() { left -= piece.count }
        }
        // Closes the connection of what is too long, and finds the others over.
        try await callTransport.drain(body, upTo: 0, until: limit)
    }

    /// What costs less to read than a new connection, and how long that may take.
    private static var smallBody: Int { 64 * 1024 }
    private static var longestWait: Duration { .milliseconds(500) }
}
