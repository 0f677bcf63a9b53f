internal import DunlinTransport
internal import Synchronization

/// A body whose beginning has been read already.
final class BegunBody: PassedBody {
    let stream: any TransportResponse.BodyStream
    /// The beginning; nil once it has been returned.
    private let beginning: Mutex<Bytes?>

    private init(_ beginning: Bytes, _ stream: any TransportResponse.BodyStream) {
        self.stream = stream
        self.beginning = Mutex(beginning)
    }

    /// All that `next` brings of a stream; if that exceeds `limit` bytes, what was read and the rest as another stream.
    /// It uses one buffer: the peer chooses how small the pieces are, and each would take its own memory.
    static func collected(
        _ stream: any TransportResponse.BodyStream, upTo limit: Int, _ next: () async throws -> Bytes?
    ) async throws -> TransportResponse.Body {
        var body = CollectedBody(expecting: stream.expectedLength)
        while let piece = try await next() {
            body.append(piece)
            if body.count > limit { return .stream(BegunBody(body.bytes, stream)) }
        }
        return .bytes(body.bytes)
    }

    func next() async throws -> Bytes? {
        if let beginning = beginning.withLock({ $0.take() }) { return beginning }
        return try await stream.next()
    }
}
