internal import DunlinTypes

/// A body in one piece, as its parts come. One that comes in a single part is never copied.
///
/// A peer that announces a length has not sent it yet: memory is set aside for as much as is usual, and for more only
/// as it comes.
struct CollectedBody {
    private var first = Bytes.empty
    private var whole: [UInt8] = []
    private let expected: Int?

    /// Set aside at once for a body of known length. Untouched memory costs nothing.
    private static let trusted = 64 << 20
    /// The session may want less.
    private static let kept = 256 << 10

    init(expecting length: Int?) {
        expected = length
    }

    var count: Int { first.count + whole.count }

    var bytes: Bytes { whole.isEmpty ? first : Bytes(whole) }

    /// What an error carries of a body that did not come to its end.
    var beginning: Bytes {
        let kept = min(count, Self.kept)
        return first.isEmpty ? Bytes(Array(whole.prefix(kept))) : first[0..<kept]
    }

    mutating func append(_ part: Bytes) {
        if count == 0 {
            first = part
            return
        }
        gather(room: part.count)
        part.withUnsafeBytes { whole.append(contentsOf: $0) }
    }

    /// Lets `receive` append at most so many bytes as it is told, `limit` or fewer; how many those were.
    mutating func receive(
        upTo limit: Int, _ receive: (inout [UInt8], Int) async throws -> Void
    ) async throws -> Int {
        gather(room: 1)
        let before = whole.count
        try await receive(&whole, min(limit, whole.capacity - before))
        return whole.count - before
    }

    /// Puts everything into one array with room for more.
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
