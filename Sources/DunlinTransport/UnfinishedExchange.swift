internal import DunlinReactor
internal import DunlinTypes

/// What is left of an exchange that takes more than the one wait for its answer.
final class UnfinishedExchange {
    enum Rest: ~Copyable {
        /// There is no connection yet, or the body's file is not open.
        case errand(SocketTransport.Errand, SocketTransport, UploadScope?)
        /// The request has a body of its own, or is more than the kernel took at once.
        case unsent(Connection.Message, Lease)
        /// The answer's head is not all here.
        case partial(Partial, Lease)
    }

    /// As much of an answer as has come, and what it is the answer to.
    final class Partial {
        var heads: Connection.Heads
        let sent: MonotonicTime
        let mayHaveMore: Bool
        let asksToClose: Bool

        init(_ heads: Connection.Heads, sent: MonotonicTime, mayHaveMore: Bool, asksToClose: Bool) {
            self.heads = heads
            self.sent = sent
            self.mayHaveMore = mayHaveMore
            self.asksToClose = asksToClose
        }
    }

    private var rest: Rest?
    private let context: ExchangeContext
    private let attempt: Attempt

    init(_ rest: consuming Rest, _ context: ExchangeContext, _ attempt: Attempt) {
        self.rest = consume rest
        self.context = context
        self.attempt = attempt
    }

    /// Asked for once: afterwards nothing is left.
    @inline(never)
    func response() async throws -> TransportResponse {
        var attempt = attempt
        switch rest.take() {
        case .errand(let errand, let transport, let uploads):
            let ready = try await transport.run(errand, uploads, context, &attempt)
            return try await Connection.begin(ready.message, over: ready.lease, context, &attempt)
                .response(context, &attempt)
        case .unsent(let message, let lease):
            return try await Connection.exchangeSlowly(message, over: lease, context, &attempt)
        case .partial(let partial, let lease):
            return try await readOn(after: partial, over: lease, &attempt)
        case nil: throw context.interrupted(.firstByte, attempt)
        }
    }

    // Out of line like the others, so that none takes room for the rest.
    @inline(never)
    private func readOn(
        after partial: Partial, over lease: consuming Lease, _ attempt: inout Attempt
    ) async throws -> TransportResponse {
        var reader = ResponseReader(lease.connection.stream, context, mayHaveMore: partial.mayHaveMore)
        let received = try await Connection.readHead(&reader, lease.connection, partial.sent, &partial.heads, &attempt)
        return try Connection.finish(received, reader, lease, context, &attempt, partial.asksToClose)
    }
}
