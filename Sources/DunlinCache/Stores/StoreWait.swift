package import DunlinReactor
package import DunlinTypes

/// How long a call waits for its cache's store: until the call is over, and never for longer than `limit`, by the
/// session's clock. A disk that hangs is as good as empty, and fails no request.
package struct StoreWait: Sendable {
    /// What a working disk needs is far less; who waits for a response does not wait much longer.
    package static var limit: Duration { .seconds(2) }

    let loop: Reactor
    let deadline: HTTP.Instant
    /// The limit that the deadline comes from.
    let total: Duration?
    /// Nil where the wait is within work that somebody else cancels by its Swift task.
    let cancellation: Cancellation?

    package init(loop: Reactor, deadline: HTTP.Instant, total: Duration?, cancellation: Cancellation?) {
        (self.loop, self.deadline, self.total, self.cancellation) = (loop, deadline, total, cancellation)
    }

    /// What a wait of `limit` from now on ends at.
    var end: HTTP.Instant {
        min(deadline, loop.now().advanced(by: Self.limit.clampedNanoseconds))
    }

    /// Throws if the call is over.
    func check() throws {
        switch cancellation?.cause {
        case .task: throw CancellationError()
        case .handle:
            throw NetworkError(
                .cancelled, "the request was cancelled", phase: .receive, requestMayHaveBeenSent: true)
        case .deadline: break
        case nil: if loop.now() < deadline { return }
        }
        throw NetworkError(
            .timedOut, "the request timed out", phase: .receive, requestMayHaveBeenSent: true, exceeding: .total,
            limit: total)
    }

    /// Waits until `waiter` gets its value; nil if it does not come in time or the call is over.
    func value<Value: Sendable>(of waiter: ValueWaiter<Value>, until end: HTTP.Instant) async -> Value? {
        let outcome = await withTaskCancellationHandler {
            await waiter.wait(until: end, cancellation: cancellation)
        } onCancel: {
            cancellation?.cancel(.task)
            waiter.cancel()
        }
        if case .value(let value) = outcome { return value }
        return nil
    }
}
