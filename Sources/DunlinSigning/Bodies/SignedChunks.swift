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
        /// What came and was not framed yet.
        private var rest: [UInt8] = []
        private var hasAll = false
        private var hasEnded = false

        init(chunks: any AsyncIteratorProtocol<Bytes, any Error>, size: Int, signer: ChunkSigner) {
            self.chunks = chunks
            self.size = size
            self.signer = signer
        }

        mutating func next() async throws -> Bytes? {
            if hasEnded { return nil }
            while rest.count < size, !hasAll {
                guard let chunk = try await chunks.next(isolation: nil) else {
                    hasAll = true
                    break
                }
                rest.append(contentsOf: chunk)
            }
            let chunk = Bytes(Array(rest.prefix(size)))
            rest.removeFirst(chunk.count)
            hasEnded = chunk.isEmpty
            return try signer.frame(chunk)
        }
    }
}
