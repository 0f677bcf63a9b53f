package import DunlinReactor

/// A body that comes through somebody else's transport, which knows only task cancellation: each piece is awaited
/// under the request's own switch and deadline. Our sockets know both themselves.
package final class ForeignBody: BodyStream {
    private let stream: any BodyStream
    private let carrier: Carrier
    private let interrupt: Interrupt
    private let loop: Reactor
    private let deadline: MonotonicTime
    private let limit: Duration?

    package init(
        _ stream: any BodyStream, _ carrier: Carrier, _ interrupt: Interrupt, on loop: Reactor,
        until deadline: MonotonicTime, limit: Duration?
    ) {
        self.stream = stream
        self.carrier = carrier
        self.interrupt = interrupt
        self.loop = loop
        self.deadline = deadline
        self.limit = limit
    }

    package func next() async throws -> Bytes? {
        try await carrier.foreign(until: deadline, limit, interrupt, on: loop) { [stream] in
            try await stream.next()
        }
    }

    package var expectedLength: Int? { stream.expectedLength }
    package var trailers: Fields { stream.trailers }
    package var attempt: Attempt { stream.attempt }
}
