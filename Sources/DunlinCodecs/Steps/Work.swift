/// Work that grows with the number of pixels: away from the caller's executor, in steps between which it may be
/// cancelled and others get their turn.
enum Work {
    /// Pixels of a step: a millisecond or less.
    private static let pixels = 1 << 16

    /// Rows of a step.
    static func rows(width: Int) -> Int { max(8, pixels / max(width, 1)) }

    /// Runs on the default pool, also for a task that prefers another executor, such as a loop.
    static func away<Value: Sendable>(_ work: @Sendable @concurrent () async throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in try await work() }
    }

    /// Calls `step` until it returns false. Throws `CancellationError` once the task was cancelled.
    static func inSteps(_ step: () throws -> Bool) async throws {
        try Task.checkCancellation()
        while try step() {
            await Task.yield()
            try Task.checkCancellation()
        }
    }
}
