import Dunlin
import Foundation
import Synchronization
import Testing

/// The most memory that this process has had since the beginning of a test.
final class Memory: Sendable {
    private let start: Int
    private let most: Atomic<Int>

    init() throws {
        start = try Self.resident()
        most = Atomic(start)
    }

    private static func resident() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 1024
    }

    func look() throws { most.max(try Self.resident(), ordering: .relaxed) }

    var growth: Int { most.load(ordering: .relaxed) - start }
}

/// A body in pieces of 64 KiB, each made when it is asked for.
struct Pieces: AsyncSequence, Sendable {
    typealias Element = Bytes
    static let size = 1 << 16
    let count: Int
    let made: Counter
    let memory: Memory

    final class Counter: Sendable {
        let pieces = Atomic(0)
        var bytes: Int { pieces.load(ordering: .relaxed) * Pieces.size }
    }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: Pieces
        let piece = Bytes([UInt8](repeating: 7, count: Pieces.size))

        mutating func next() async throws -> Bytes? {
            let number = pieces.made.pieces.add(1, ordering: .relaxed).newValue
            guard number <= pieces.count else { return nil }
            if number % 64 == 0 { try pieces.memory.look() }
            return piece
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }
}
