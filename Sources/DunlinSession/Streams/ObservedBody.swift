/// A body that reports its chunks to hooks before they are delivered.
final class ObservedBody: PassedBody {
    let stream: any TransportResponse.BodyStream
    private let tell: @Sendable (Bytes) async throws -> Void

    init(_ stream: any TransportResponse.BodyStream, _ tell: @escaping @Sendable (Bytes) async throws -> Void) {
        self.stream = stream
        self.tell = tell
    }

    func next() async throws -> Bytes? {
        guard let piece = try await stream.next() else { return nil }
        try await tell(piece)
        return piece
    }
}
