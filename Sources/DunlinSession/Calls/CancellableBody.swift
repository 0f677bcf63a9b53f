package import DunlinReactor
internal import Synchronization

/// A body from a custom transport, which supports only task cancellation. Each chunk is awaited until the call is
/// cancelled or its deadline comes. Dunlin's own sockets need no such wrapper.
package final class CancellableBody: PassedBody {
    package let stream: any TransportResponse.BodyStream
    private let callTransport: CallTransport
    private let cancellation: Cancellation
    private let loop: Reactor
    private let deadline: HTTP.Instant
    private let limit: Duration?
    /// The length that an interceptor's body declares and must have; nil for any.
    private let announced: Int?
    private let count = Atomic(0)
    /// A body of Dunlin's own sockets that the stream may read from.
    package let source: (any TransportResponse.BodyStream)?

    package init(
        _ stream: any TransportResponse.BodyStream, _ callTransport: CallTransport, _ cancellation: Cancellation,
        on loop: Reactor,
        until deadline: HTTP.Instant, limit: Duration?, source: (any TransportResponse.BodyStream)? = nil,
        announcing announced: Int? = nil
    ) {
        self.announced = announced
        self.source = source
        self.stream = stream
        self.callTransport = callTransport
        self.cancellation = cancellation
        self.loop = loop
        self.deadline = deadline
        self.limit = limit
    }

    package func next() async throws -> Bytes? {
        let piece = try await callTransport.withinLimits(
            until: deadline, limit, cancellation, on: loop, in: .receive
        ) { [stream] in
            try await stream.next()
        }
        if let announced { try check(piece, announced) }
        return piece
    }

    private func check(_ piece: Bytes?, _ announced: Int) throws {
        let count = count.add(piece?.count ?? 0, ordering: .relaxed).newValue
        guard count > announced || (piece == nil && count < announced) else { return }
        throw NetworkError(
            .interceptorFailed,
            "an interceptor announced a body of \(announced) bytes, but it has \(count)"
                + (piece == nil ? "" : " or more"),
            phase: .receive, requestMayHaveBeenSent: true)
    }
}
