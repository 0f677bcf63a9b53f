internal import Synchronization

/// Bytes that are here already, as a stream of one piece.
final class WholeBodyStream: TransportResponse.BodyStream {
    private let bytes: Mutex<Bytes?>
    let expectedLength: Int?
    let trailers: Fields
    let hop: HTTP.Hop

    init(_ bytes: Bytes, _ response: TransportResponse) {
        self.bytes = Mutex(bytes.isEmpty ? nil : bytes)
        (expectedLength, trailers, hop) = (bytes.count, response.trailers, response.hop)
    }

    func next() async throws -> Bytes? { bytes.withLock { $0.take() } }
}
