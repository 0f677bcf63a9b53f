package import DunlinTransport
package import DunlinTypes
internal import Synchronization

/// Stored bytes followed by the rest from the network, which must have the announced length.
package final class JoinedBody: WrappedBody {
    /// The rest, which the network is to bring.
    package struct Rest: Sendable {
        let body: any TransportResponse.BodyStream
        let count: Int
        /// Called if the rest is shorter or longer than announced: then nobody knows what it is the rest of.
        let refuse: @Sendable () async -> Void

        package init(
            body: any TransportResponse.BodyStream, count: Int, refuse: @escaping @Sendable () async -> Void
        ) {
            (self.body, self.count, self.refuse) = (body, count, refuse)
        }
    }

    package let source: (any TransportResponse.BodyStream)?
    private let stored: StoredBodyStream
    private let rest: Rest
    private let control: TransferControl?
    private let start: Int
    /// The number of bytes of the rest that have come.
    private let count = Atomic(0)

    package init(_ stored: StoredBodyStream, _ rest: Rest, control: TransferControl? = nil) {
        (self.stored, self.rest, self.control) = (stored, rest, control)
        start = stored.expectedLength ?? 0
        source = rest.body
    }

    package func next() async throws -> Bytes? {
        if let bytes = try await stored.next() { return bytes }
        let bytes = try await rest.body.next()
        let count = count.add(bytes?.count ?? 0, ordering: .relaxed).newValue
        if count > rest.count || bytes == nil && count < rest.count { throw await refusal(count) }
        control?.received(upTo: start + count)
        return bytes
    }

    private func refusal(_ count: Int) async -> NetworkError {
        await rest.refuse()
        let problem = CacheDamage(.rest)
        return NetworkError(
            .invalidResponse, "the rest of a stored body should have \(rest.count) bytes, but \(count) arrived",
            phase: .receive, requestMayHaveBeenSent: true, isSafeToRetry: true, underlying: problem)
    }

    package var expectedLength: Int? { start + rest.count }
    package var trailers: Fields { rest.body.trailers }
    package var hop: HTTP.Hop { rest.body.hop }
}
