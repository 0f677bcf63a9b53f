internal import Synchronization

/// A body of which the first pieces have been read already.
final class BegunBody: PassedBody {
    let stream: any TransportResponse.BodyStream
    /// The last one first.
    private let pieces: Mutex<[Bytes]>

    init(_ pieces: [Bytes], _ stream: any TransportResponse.BodyStream) {
        self.stream = stream
        self.pieces = Mutex(pieces.reversed())
    }

    func next() async throws -> Bytes? {
        if let piece = pieces.withLock({ $0.popLast() }) { return piece }
        return try await stream.next()
    }
}
