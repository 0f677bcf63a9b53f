package import DunlinReactor

/// A body that comes through somebody else's transport, which knows only task cancellation. Each chunk is awaited until
/// the call is cancelled or its deadline has come. Our own sockets need no such wrapper.
package final class ForeignBody: WrappedBody {
    private let stream: any TransportResponse.BodyStream
    private let callTransport: CallTransport
    private let cancellation: Cancellation
    private let loop: Reactor
    private let deadline: MonotonicTime
    private let limit: Duration?
    /// What the stream may be reading from: a body of our own sockets.
    let source: (any TransportResponse.BodyStream)?

    package init(
        _ stream: any TransportResponse.BodyStream, _ callTransport: CallTransport, _ cancellation: Cancellation,
        on loop: Reactor,
        until deadline: MonotonicTime, limit: Duration?, source: (any TransportResponse.BodyStream)? = nil
    ) {
        self.source = source
        self.stream = stream
        self.callTransport = callTransport
        self.cancellation = cancellation
        self.loop = loop
        self.deadline = deadline
        self.limit = limit
    }

    package func next() async throws -> Bytes? {
        try await callTransport.foreign(until: deadline, limit, cancellation, on: loop, in: .receive) { [stream] in
            try await stream.next()
        }
    }

    package var expectedLength: Int? { stream.expectedLength }
    package var trailers: Fields { stream.trailers }
    package var hop: HTTP.Hop { stream.hop }
}
