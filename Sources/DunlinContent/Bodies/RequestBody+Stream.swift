internal import Synchronization

extension RequestBody {
    /// A body of a sequence that can be read once. A request that has to be sent again fails instead.
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

    /// A body of a sequence that cannot fail, such as an `AsyncStream`.
    public static func stream(
        _ chunks: some AsyncSequence<Bytes, Never> & Sendable, length: Int? = nil,
        contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        .stream(Unfailing(base: chunks), length: length, contentType: contentType)
    }
}

/// Adapts a sequence that cannot fail to one that can.
private struct Unfailing<Base: AsyncSequence<Bytes, Never> & Sendable>: AsyncSequence, Sendable {
    let base: Base

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator

        mutating func next() async throws -> Bytes? { await base.next(isolation: #isolation) }
    }

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }
}

extension RequestBody {
    /// A sequence that only the first caller gets.
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

    /// The sequence for everybody who comes after the first: it throws.
    private struct Consumed: AsyncSequence, AsyncIteratorProtocol, Sendable {
        func makeAsyncIterator() -> Consumed { self }

        func next() async throws -> Bytes? {
            throw NetworkError(
                .bodyConsumed,
                "the request's body was sent already, and can be sent once only; give the body as bytes, a file or "
                    + "`.replayable`", phase: .send)
        }
    }
}
