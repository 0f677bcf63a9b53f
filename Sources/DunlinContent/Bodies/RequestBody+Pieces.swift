internal import DunlinReactor

extension RequestBody {
    /// A body as a sequence, whatever its content.
    package struct Pieces {
        package var length: Int?
        package var isReplayable = true
        /// Makes the sequence; nil without a body.
        package var make: (@Sendable () -> any Chunks)?
    }

    /// The body as a sequence. Throws if the length of a file cannot be looked up.
    package func pieces() throws -> Pieces {
        switch content {
        case .none: return Pieces(length: 0)
        case .bytes(let bytes): return Pieces(length: bytes.count) { OneChunk(bytes: bytes) }
        case .stream(let length, let isReplayable, let make):
            return Pieces(length: length, isReplayable: isReplayable, make: make)
        case .file(let file):
            return Pieces(length: try FileSource(file).length) { FileChunks(file: file) }
        }
    }
}

/// Bytes in memory, as a sequence.
private struct OneChunk: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    let bytes: Bytes

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }

    struct Iterator: AsyncIteratorProtocol {
        var bytes: Bytes?

        mutating func next() async throws -> Bytes? { bytes.take() }
    }
}
