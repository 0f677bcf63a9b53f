internal import DunlinReactor
internal import Synchronization

/// Bytes of a stored body, read piece by piece as they are asked for.
final class StoredBodyStream: TransportResponse.BodyStream {
    private let body: any StoredBody
    private let length: Int
    private let rest: Mutex<Range<Int>>
    /// How the hop spent its time.
    let hop: HTTP.Hop

    /// `range` counts from the body's first stored byte.
    init(_ body: any StoredBody, _ range: Range<Int>, _ hop: HTTP.Hop) {
        self.body = body
        self.hop = hop
        length = range.count
        rest = Mutex(range)
    }

    private static var piece: Int { 128 * 1024 }

    func next() async throws -> Bytes? {
        let left = rest.withLock(\.self)
        if left.isEmpty { return nil }
        let bytes = try await body.read(from: left.lowerBound, upTo: min(left.count, Self.piece))
        rest.withLock { $0 = (left.lowerBound + bytes.count)..<left.upperBound }
        return bytes
    }

    var expectedLength: Int? { length }
    var trailers: Fields { Fields() }
}
