import Dunlin
import DunlinTesting

/// Pieces of a generated body, made as they are asked for.
struct UploadPieces: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    var total: Int
    var size = 10_000
    var failingAt: Int?
    /// Opened when nothing more comes.
    var end: LoopbackServer.Gate?

    struct Broken: Error {}

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: UploadPieces
        var offset = 0

        mutating func next() async throws -> Bytes? {
            if let failure = pieces.failingAt, offset >= failure { throw Broken() }
            guard offset < pieces.total else {
                pieces.end?.open()
                return nil
            }
            let end = Swift.min(offset + pieces.size, pieces.total)
            defer { offset = end }
            return LoopbackServer.GeneratedBody.bytes(offset..<end)
        }
    }
}
