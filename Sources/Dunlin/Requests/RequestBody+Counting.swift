internal import DunlinTransport

extension RequestBody {
    /// The same body, telling a watch of what is taken of it: for transports that do not.
    func counted(by watch: TransferWatch) -> RequestBody {
        switch content {
        case .none, .bytes, .file:
            // Nobody can tell how far these are before they are sent.
            return self
        case .stream(let length, let isReplayable, let make):
            return with(
                .stream(length: length, isReplayable: isReplayable) {
                    watch.beginSending(length)
                    return CountedChunks(chunks: make(), watch: watch)
                })
        }
    }
}

private struct CountedChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    let chunks: any RequestBody.Chunks
    let watch: TransferWatch

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: Self.iterator(of: chunks), watch: watch)
    }

    private static func iterator(of chunks: some RequestBody.Chunks) -> any AsyncIteratorProtocol<Bytes, any Error> {
        chunks.makeAsyncIterator()
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: any AsyncIteratorProtocol<Bytes, any Error>
        let watch: TransferWatch
        /// Taken once the next is asked for.
        var last = 0

        mutating func next() async throws -> Bytes? {
            watch.sent(last)
            _ = await watch.pass(until: .never)
            let chunk = try await chunks.next(isolation: nil)
            last = chunk?.count ?? 0
            return chunk
        }
    }
}
