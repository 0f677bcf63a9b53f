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
                try await callTransport.drain(body, upTo: Self.smallBody, until: limit)
            } catch {
                // The response's head has come and is enough. An error of its body counts only if it ends the call.
                if cancellation.cause != nil || loop.now() >= request.deadline { throw error }
            }
        }
        return CallTransport.source(of: body).hop
    }

    /// What costs less to read than a new connection, and how long that may take.
    private static var smallBody: Int { 64 * 1024 }
    private static var longestWait: Duration { .milliseconds(500) }
}
