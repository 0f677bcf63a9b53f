package import DunlinTypes
internal import Synchronization

/// Bytes that are here already, as a stream of one piece.
package final class WholeBodyStream: TransportResponse.BodyStream {
    private let bytes: Mutex<Bytes?>
    package let expectedLength: Int?
    package let trailers: Fields
    package let hop: HTTP.Hop

    package init(_ bytes: Bytes, _ response: TransportResponse) {
        self.bytes = Mutex(bytes.isEmpty ? nil : bytes)
        (expectedLength, trailers, hop) = (bytes.count, response.trailers, response.hop)
    }

    package func next() async throws -> Bytes? { bytes.withLock { $0.take() } }
}
