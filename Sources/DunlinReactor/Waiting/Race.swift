public import DunlinTypes

/// Runs work that knows only task cancellation, until a deadline or a cancel.
///
/// It is for rare work, because it costs a task group. The hot path waits on a channel instead.
public enum Race {
    public enum Lost: Error {
        case timedOut
        case cancelled
    }

    /// Returns the work's result, or throws `Lost` once it was cancelled and has ended: leaving the group waits for it.
    /// An error that the work throws because it was cancelled is discarded. The work runs off the loop.
    public static func run<Value: Sendable>(
        until deadline: HTTP.Instant, _ cancellation: Cancellation, on reactor: Reactor,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let waiter = ValueWaiter<Result<Value, any Error>>(on: reactor)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: globalConcurrentExecutor) { await deliver(work, to: waiter) }
            switch await waiter.wait(until: deadline, cancellation: cancellation) {
            case .value(let made):
                do {
                    return try made.get()
                } catch  where cancellation.cause != nil {
                    throw Lost.cancelled
                }
            case .timedOut:
                group.cancelAll()
                throw Lost.timedOut
            case .cancelled:
                group.cancelAll()
                throw Lost.cancelled
            }
        }
    }

    /// Delivers a result, keeping nothing of it once this returns; nobody has it if nobody waits any more. A child task
    /// that returned it would keep it until the task itself ends, on another thread: a response that nobody has would
    /// still hold its connection then.
    private static func deliver<Value: Sendable>(
        _ work: @Sendable () async throws -> Value, to waiter: ValueWaiter<Result<Value, any Error>>
    ) async {
        let made: Result<Value, any Error>
        do { made = .success(try await work()) } catch { made = .failure(error) }
        _ = waiter.deliver(made)
    }
}
