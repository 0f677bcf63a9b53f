package import DunlinReactor
package import DunlinTypes

/// How long a call waits for its cache's store: until the call is over, and at most `limit`, by the session's clock. A
/// disk that hangs counts as empty, and fails no request.
package struct StoreWait: Sendable {
    /// The limit of a wait: far more than a working disk needs, and not much longer for whoever waits for a response.
    package static var limit: Duration { .seconds(2) }

    let loop: Reactor
    let deadline: HTTP.Instant
    /// The limit that the deadline is computed from.
    let total: Duration?
    /// The call's cancellation; nil within work that is cancelled by its Swift task.
    let cancellation: Cancellation?

    package init(loop: Reactor, deadline: HTTP.Instant, total: Duration?, cancellation: Cancellation?) {
        (self.loop, self.deadline, self.total, self.cancellation) = (loop, deadline, total, cancellation)
    }

    /// The end of a wait of `limit` from now on.
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
