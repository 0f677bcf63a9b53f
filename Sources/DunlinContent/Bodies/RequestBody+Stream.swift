internal import Synchronization

extension RequestBody {
    /// A sequence that can be read once: if the request must be sent again, it fails instead.
    ///
    /// With a `length` the body is sent with Content-Length, and must have exactly that many bytes; without one it is
    /// chunked.
    public static func stream(
        _ chunks: any Chunks, length: Int? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        let once = Once(chunks)
        return RequestBody(
            .stream(length: length, isReplayable: false) { once.take() }, contentType: contentType, once: once)
    }
}

extension RequestBody {
    /// A sequence for whoever comes first.
    private final class Once: OneShot {
        private let chunks: any Chunks
        private let taken = Atomic<Bool>(false)

        init(_ chunks: any Chunks) {
            self.chunks = chunks
        }

        var isTaken: Bool { taken.load(ordering: .relaxed) }

        func take() -> any Chunks {
            taken.exchange(true, ordering: .relaxed) ? Consumed() : chunks
        }
    }

    /// What is left of a sequence that was taken already.
    private struct Consumed: AsyncSequence, AsyncIteratorProtocol, Sendable {
        func makeAsyncIterator() -> Consumed { self }

        func next() async throws -> Bytes? {
            throw NetworkError(.bodyConsumed, "the request's body can be sent once only", phase: .send)
        }
    }
}
