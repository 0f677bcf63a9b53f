/// A body whose pieces are told to hooks before they are handed on.
final class ToldBody: BodyStream {
    private let stream: any BodyStream
    private let tell: @Sendable (Bytes) async throws -> Void

    init(_ stream: any BodyStream, _ tell: @escaping @Sendable (Bytes) async throws -> Void) {
        self.stream = stream
        self.tell = tell
    }

    func next() async throws -> Bytes? {
        guard let piece = try await stream.next() else { return nil }
        try await tell(piece)
        return piece
    }

    var expectedLength: Int? { stream.expectedLength }
    var trailers: Fields { stream.trailers }
    var attempt: Attempt { stream.attempt }
}
