/// Runs work that grows with the number of pixels: off the caller's executor, in steps, between which it can be
/// cancelled and others get their turn.
enum Work {
    /// The pixels of a step, a millisecond's work or less.
    private static let pixels = 1 << 16
    /// The steps before others get their turn, some milliseconds. Yielding after each would cost an eighth of the time
    /// of decoding a large JPEG.
    private static let stepsInTurn = 16

    /// Returns the rows of a step.
    static func rows(width: Int, atLeast least: Int = 8) -> Int { max(least, pixels / max(width, 1)) }

    /// Runs work on the default pool, also for a task that prefers another executor, such as a loop. A caller on the
    /// pool already stays there: leaving and coming back takes half as long as decoding a small JPEG.
    static func onDefaultPool<Value: Sendable>(_ work: @Sendable @concurrent () async throws -> Value) async throws
        -> Value
    {
        let preferred = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
        if preferred == nil { return try await work() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in try await work() }
    }

    /// Calls `step` until it returns false. Throws `CancellationError` once the task is cancelled.
    static func inSteps(_ step: () throws -> Bool) async throws {
        var count = 0
        try Task.checkCancellation()
        while try step() {
            count += 1
            try await pass(after: count)
        }
    }

    /// Runs between two steps: yields now and then, and throws if the task was cancelled.
    static func pass(after steps: Int) async throws {
        if steps % stepsInTurn == 0 { await Task.yield() }
        try Task.checkCancellation()
    }
}
