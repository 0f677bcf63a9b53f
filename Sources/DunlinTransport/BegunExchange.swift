internal import DunlinReactor
internal import DunlinTypes

/// An exchange as far as it goes without a wait.
///
/// Most have sent their request by then, and all of the answer is there after one wait. A request keeps its frames for
/// as long as it waits, so this wait is the only one in the frame of an exchange: whatever else takes waiting has a
/// frame of its own, made when it is needed. For the same reason what never waits is out of line: its locals belong on
/// the stack.
enum BegunExchange: ~Copyable {
    /// The kernel has the whole request, and nothing has been heard yet.
    case sent(Lease, at: MonotonicTime, asksToClose: Bool)
    case unfinished(UnfinishedExchange)

    @inline(__always)
    consuming func response(_ context: ExchangeContext, _ attempt: inout Attempt) async throws -> TransportResponse {
        let rest: UnfinishedExchange
        switch consume self {
        case .sent(let lease, let sent, let asksToClose):
            let deadline = context.clock.deadline(for: .firstByte, from: sent)
            let wake = await lease.connection.channel.waitReadable(until: deadline)
            switch try Connection.receive(wake, over: lease, context, since: sent, &attempt, asksToClose) {
            case .whole(let response): return response
            case .unfinished(let exchange): rest = exchange
            }
        case .unfinished(let exchange): rest = exchange
        }
        return try await rest.response()
    }
}
