package import DunlinTransport
internal import Synchronization

/// A body from a custom transport, counted and suspended here; Dunlin's own sockets do both themselves.
package final class CountedBody: PassedBody {
    package let stream: any TransportResponse.BodyStream
    private let control: TransferControl
    private let deadline: HTTP.Instant
    private let count = Atomic<Int>(0)

    package init(_ stream: any TransportResponse.BodyStream, _ control: TransferControl, until deadline: HTTP.Instant) {
        self.stream = stream
        self.control = control
        self.deadline = deadline
    }

    package func next() async throws -> Bytes? {
        // A suspension that outlasts the call is not awaited: the stream's own deadline reports it.
        if await control.pass(until: deadline) == .cancelled { throw CancellationError() }
        guard let piece = try await stream.next() else { return nil }
        control.received(upTo: count.add(piece.count, ordering: .relaxed).newValue)
        return piece
    }
}
