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
        until deadline: MonotonicTime, _ cancellation: Cancellation, on reactor: Reactor,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let waiter = ValueWaiter<Void>(on: reactor)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask(executorPreference: globalConcurrentExecutor) {
                do {
                    let value = try await work()
                    _ = waiter.deliver(())
                    return value
                } catch {
                    _ = waiter.deliver(())
                    throw error
                }
            }
            let outcome = await waiter.wait(until: deadline, cancellation: cancellation)
            if case .value = outcome {
                do {
                    guard let value = try await group.next() ?? nil else { throw CancellationError() }
                    return value
                } catch  where cancellation.cause != nil {
                    throw Lost.cancelled
                }
            }
            group.cancelAll()
            if case .timedOut = outcome { throw Lost.timedOut }
            throw Lost.cancelled
        }
    }
}
