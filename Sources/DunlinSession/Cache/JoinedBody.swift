internal import Synchronization

/// Stored bytes, and behind them what the network brings.
final class JoinedBody: WrappedBody {
    let source: (any TransportResponse.BodyStream)?
    private let stored: StoredBodyStream
    private let rest: any TransportResponse.BodyStream
    private let isInRest = Mutex(false)

    init(_ stored: StoredBodyStream, _ rest: any TransportResponse.BodyStream) {
        (self.stored, self.rest) = (stored, rest)
        source = rest
    }

    func next() async throws -> Bytes? {
        if !isInRest.withLock(\.self) {
            if let bytes = try await stored.next() { return bytes }
            isInRest.withLock { $0 = true }
        }
        return try await rest.next()
    }

    var expectedLength: Int? {
        guard let stored = stored.expectedLength, let rest = rest.expectedLength else { return nil }
        return stored + rest
    }
    var trailers: Fields { rest.trailers }
    var hop: HTTP.Hop { rest.hop }
}
