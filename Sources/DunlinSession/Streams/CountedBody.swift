package import DunlinTransport
internal import Synchronization

/// A body from somebody else's transport, counted and held here: our own sockets do both themselves.
package final class CountedBody: BodyStream {
    private let stream: any BodyStream
    private let watch: TransferWatch
    private let deadline: MonotonicTime
    private let count = Atomic<Int>(0)

    package init(_ stream: any BodyStream, _ watch: TransferWatch, until deadline: MonotonicTime) {
        self.stream = stream
        self.watch = watch
        self.deadline = deadline
    }

    package func next() async throws -> Bytes? {
        // A hold that outlasts the request is not waited out: whatever bounds the stream says so.
        _ = await watch.pass(until: deadline)
        guard let piece = try await stream.next() else { return nil }
        watch.received(upTo: count.add(piece.count, ordering: .relaxed).newValue)
        return piece
    }

    package var expectedLength: Int? { stream.expectedLength }
    package var trailers: Fields { stream.trailers }
    package var attempt: Attempt { stream.attempt }
}
