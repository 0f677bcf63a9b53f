internal import DunlinTransport

/// A body that is here already, read as one that is still arriving.
final class WholeBody: TransportResponse.BodyStream {
    private struct Unread: ~Copyable {
        let bytes: Bytes
    }

    private let reader: SoleReader<Unread>

    init(_ bytes: Bytes, of response: TransportResponse) {
        reader = SoleReader(Unread(bytes: bytes), after: response.hop, response.trailers)
        expectedLength = bytes.count
    }

    let expectedLength: Int?
    var trailers: Fields { reader.trailers }
    var hop: HTTP.Hop { reader.hop }

    func next() async throws -> Bytes? {
        switch reader.begin() {
        case .over: return nil
        case .failed(let error): throw error
        case .read(let unread):
            reader.end()
            return unread.bytes.isEmpty ? nil : unread.bytes
        }
    }
}
