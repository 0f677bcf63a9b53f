internal import DunlinReactor
internal import DunlinTransport

extension LiveCall {
    /// Lets the connection of a response go that nobody reads: what is left of a small body is read, so that it can be
    /// used again. How the attempt went; throws if the request is over.
    func letGo(of response: TransportResponse) async throws -> HTTP.Hop {
        guard case .stream(let body) = response.body else { return response.hop }
        if let sockets = callTransport.sockets {
            let limit = loop.now().advanced(by: Self.patience.clampedNanoseconds)
            do {
                try await sockets.drain(body, upTo: Self.smallBody, until: limit)
            } catch {
                // The response has been understood. Only what ends the request ends it here.
                if cancellation.cause != nil || loop.now() >= request.deadline { throw error }
            }
        }
        return body.hop
    }

    /// What costs less to read than a new connection, and how long that is waited for.
    private static var smallBody: Int { 64 * 1024 }
    private static var patience: Duration { .milliseconds(500) }
}
