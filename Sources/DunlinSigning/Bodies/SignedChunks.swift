internal import Dunlin

/// A body in chunks of one size, of which the last may be shorter, each framed with its signature.
struct SignedChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    let chunks: any RequestBody.Chunks
    let size: Int
    let signer: ChunkSigner

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: RequestBody.iterator(of: chunks), size: size, signer: signer)
    }

    struct Iterator: AsyncIteratorProtocol {
        private var chunks: any AsyncIteratorProtocol<Bytes, any Error>
        private let size: Int
        private var signer: ChunkSigner
        /// What came last and was not framed yet. It may be the whole body, so it is not moved.
        private var rest = Bytes.empty
        private var hasAll = false
        private var hasEnded = false

        init(chunks: any AsyncIteratorProtocol<Bytes, any Error>, size: Int, signer: ChunkSigner) {
            self.chunks = chunks
            self.size = size
            self.signer = signer
        }

        mutating func next() async throws -> Bytes? {
            if hasEnded { return nil }
            var chunk: [UInt8] = []
            while chunk.count < size {
                if rest.isEmpty {
                    guard !hasAll, let piece = try await chunks.next(isolation: nil) else {
                        hasAll = true
                        break
                    }
                    rest = piece
                }
                let count = Swift.min(rest.count, size - chunk.count)
                rest[..<count].withUnsafeBytes { chunk.append(contentsOf: $0) }
                rest = rest[count...]
            }
            hasEnded = chunk.isEmpty
            return try signer.frame(Bytes(chunk))
        }
    }
}
