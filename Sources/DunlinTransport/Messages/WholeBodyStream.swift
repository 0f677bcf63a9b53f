package import DunlinTypes
internal import Synchronization

/// Bytes in memory, as a stream of one piece.
package final class WholeBodyStream: TransportResponse.BodyStream {
    private let bytes: Bytes
    private let isRead: Atomic<Bool>
    package let expectedLength: Int?
    package let trailers: Fields
    package let hop: HTTP.Hop

    package init(_ bytes: Bytes, _ response: TransportResponse) {
        self.bytes = bytes
        isRead = Atomic(bytes.isEmpty)
        (expectedLength, trailers, hop) = (bytes.count, response.trailers, response.hop)
    }

    package func next() async throws -> Bytes? { isRead.exchange(true, ordering: .relaxed) ? nil : bytes }
}
