internal import DunlinTransport

extension RequestBody {
    /// The same body, which reports to a control how much of it is taken: for transports that do not.
    func counted(by control: TransferControl) -> RequestBody {
        switch content {
        case .none, .bytes, .file:
            // The progress of these cannot be known before there is an answer: see `noteSent`.
            return self
        case .stream(let length, let isReplayable, let make):
            return with(
                .stream(length: length, isReplayable: isReplayable) {
                    control.beginSending(length)
                    return CountedChunks(chunks: make(), control: control)
                })
        }
    }

    /// Reports to a control, once a response has come, that a body was sent whose progress could not be counted.
    func noteSent(by control: TransferControl) {
        let length: Int
        switch content {
        case .none, .stream: return
        case .bytes(let bytes): length = bytes.count
        case .file(let file):
            guard let range = file.range else { return }
            length = max(0, range.upperBound.subtractingClamped(range.lowerBound))
        }
        control.beginSending(length)
        control.sent(length)
    }
}

private struct CountedChunks: AsyncSequence, Sendable {
    typealias Element = Bytes
    typealias Failure = any Error

    let chunks: any RequestBody.Chunks
    let control: TransferControl

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: Self.iterator(of: chunks), control: control)
    }

    private static func iterator(of chunks: some RequestBody.Chunks) -> any AsyncIteratorProtocol<Bytes, any Error> {
        chunks.makeAsyncIterator()
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: any AsyncIteratorProtocol<Bytes, any Error>
        let control: TransferControl
        /// The size of the last chunk, which counts as sent when the next is requested.
        var last = 0

        mutating func next() async throws -> Bytes? {
            control.sent(last)
            if await control.pass(until: .never) == .cancelled { throw CancellationError() }
            let chunk = try await chunks.next(isolation: nil)
            last = chunk?.count ?? 0
            return chunk
        }
    }
}
