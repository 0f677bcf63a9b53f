internal import DunlinReactor
internal import DunlinTransport

extension Sending {
    /// The value of a waiter, within the call's limits. `isUnsent`: nothing of what it waits for has been sent.
    func value<Value>(of waiter: ValueWaiter<Value>, isUnsent: Bool, late reason: String) async throws -> Value {
        switch await waiter.wait(until: request.deadline, cancellation: cancellation) {
        case .value(let value): return value
        case .timedOut:
            throw NetworkError(
                .timedOut, reason, requestMayHaveBeenSent: !isUnsent, isSafeToRetry: isUnsent, exceeding: .total,
                limit: request.timeouts.total)
        case .cancelled: throw cancellation.failure(isUnsent: isUnsent, limit: request.timeouts.total)
        }
    }
}
