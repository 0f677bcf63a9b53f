public import DunlinTypes
internal import Synchronization

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
        let (waiter, product) = (ValueWaiter<Void>(on: reactor), Product<Value>())
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: globalConcurrentExecutor) {
                await product.make(work)
                _ = waiter.deliver(())
            }
            switch await waiter.wait(until: deadline, cancellation: cancellation) {
            case .value:
                do {
                    guard let value = try product.take() else { throw CancellationError() }
                    return value
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
}

/// What work came to, until it is taken. A child task that returned it would keep it for as long as the task itself
/// lasts, which ends on a thread of its own: a response that is given up would still hold its connection then.
private final class Product<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    /// Has the work make it. Nothing of it is left here once this returns.
    func make(_ work: @Sendable () async throws -> Value) async {
        let made: Result<Value, any Error>
        do { made = .success(try await work()) } catch { made = .failure(error) }
        result.withLock { $0 = made }
    }

    /// Nil if there is none, or it was taken before.
    func take() throws -> Value? {
        try result.withLock { $0.take() }?.get()
    }
}
