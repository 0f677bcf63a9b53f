package import DunlinTypes

/// Collects a body in one buffer as its chunks come. A body of a single chunk is never copied.
///
/// A declared length is not received yet: memory is reserved up to a usual amount, and for more only as it comes.
package struct CollectedBody: Sendable {
    private var first = Bytes.empty
    private var whole: [UInt8] = []
    private let expected: Int?

    /// The bytes reserved at once for a body of known length. Untouched memory costs nothing.
    private static let trusted = 64 << 20
    /// The bytes kept for an error; the session may reduce them.
    private static let kept = 256 << 10

    package init(expecting length: Int?) {
        expected = length
    }

    package var count: Int { first.count + whole.count }

    package var bytes: Bytes { whole.isEmpty ? first : Bytes(whole) }

    /// The beginning of an incomplete body, for its error.
    var beginning: Bytes {
        let kept = min(count, Self.kept)
        return first.isEmpty ? Bytes(Array(whole.prefix(kept))) : first[0..<kept]
    }

    package mutating func append(_ part: Bytes) {
        if count == 0 {
            first = part
            return
        }
        gather(room: part.count)
        part.withUnsafeBytes { whole.append(contentsOf: $0) }
    }

    /// Lets `receive` append at most `limit` bytes. Returns how many came.
    mutating func receive(
        upTo limit: Int, _ receive: (inout [UInt8], Int) async throws -> Void
    ) async throws -> Int {
        gather(room: 1)
        let before = whole.count
        try await receive(&whole, min(limit, whole.capacity - before))
        return whole.count - before
    }

    /// A copy of the bytes received last.
    func last(_ count: Int) -> Bytes { Bytes(Array(whole.suffix(count))) }

    /// Moves everything into one array with room for more.
    private mutating func gather(room: Int) {
        let needed = count + room
        if whole.capacity < needed {
            let grown = max(needed, whole.capacity * 2)
            whole.reserveCapacity(expected.map { max(needed, min($0, max(grown, Self.trusted))) } ?? grown)
        }
        if first.isEmpty { return }
        first.withUnsafeBytes { whole.append(contentsOf: $0) }
        first = .empty
    }
}
