import Dunlin
import HTTPTypes
import OpenAPIRuntime
import Synchronization

/// Pieces of a body, made when they are asked for, of which it is known how many were.
final class Pieces: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>
    typealias Failure = any Error

    private let count: Int
    private let size: Int
    /// Awaited before each piece with its number.
    private let gate: @Sendable (Int) async throws -> Void
    let made = Atomic<Int>(0)
    let readings = Atomic<Int>(0)

    init(_ count: Int, of size: Int = 4, gate: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
        self.count = count
        self.size = size
        self.gate = gate
    }

    /// The pieces as a body; its length is known only if it is said.
    func body(known: Bool = false, _ behavior: IterationBehavior = .single) -> HTTPBody {
        HTTPBody(self, length: known ? .known(Int64(count * size)) : .unknown, iterationBehavior: behavior)
    }

    /// What all the pieces are together.
    var whole: Bytes { Bytes((0..<count).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: size) }) }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var next = 0

        mutating func next() async throws -> ArraySlice<UInt8>? {
            guard next < pieces.count else { return nil }
            try await pieces.gate(next)
            defer { next += 1 }
            pieces.made.add(1, ordering: .relaxed)
            return [UInt8](repeating: UInt8(truncatingIfNeeded: next), count: pieces.size)[...]
        }
    }

    func makeAsyncIterator() -> Iterator {
        readings.add(1, ordering: .relaxed)
        return Iterator(pieces: self)
    }
}
