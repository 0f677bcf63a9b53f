internal import DunlinTransport

/// A body that is here already, read like one that is still arriving.
final class WholeBody: BodyStream {
    private struct Unread: ~Copyable {
        let bytes: Bytes
    }

    private let reader: SoleReader<Unread>
    private let carried: TransportResponse

    init(_ bytes: Bytes, of response: TransportResponse) {
        reader = SoleReader(Unread(bytes: bytes))
        carried = response
        expectedLength = bytes.count
    }

    let expectedLength: Int?
    var trailers: Fields { carried.trailers }
    var attempt: Attempt { carried.attempt }

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
