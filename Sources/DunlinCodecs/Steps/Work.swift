/// Work that grows with the number of pixels: away from the caller's executor, in steps between which it may be
/// cancelled and others get their turn.
enum Work {
    /// Pixels of a step: a millisecond or less.
    private static let pixels = 1 << 16
    /// Steps until others get their turn, some milliseconds. After each step it would be an eighth of the time in which
    /// a large JPEG is decoded.
    private static let stepsInTurn = 16

    /// Rows of a step.
    static func rows(width: Int, atLeast least: Int = 8) -> Int { max(least, pixels / max(width, 1)) }

    /// Runs on the default pool, also for a task that prefers another executor, such as a loop. Who is on the pool
    /// already stays where they are: to leave and come back takes half as long as a small JPEG.
    static func away<Value: Sendable>(_ work: @Sendable @concurrent () async throws -> Value) async throws -> Value {
        let preferred = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
        if preferred == nil { return try await work() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in try await work() }
    }

    /// Calls `step` until it returns false. Throws `CancellationError` once the task was cancelled.
    static func inSteps(_ step: () throws -> Bool) async throws {
        var count = 0
        try Task.checkCancellation()
        while try step() {
            count += 1
            try await pass(after: count)
        }
    }

    /// Between two steps: others get their turn, from time to time, and a task that was cancelled ends.
    static func pass(after steps: Int) async throws {
        if steps % stepsInTurn == 0 { await Task.yield() }
        try Task.checkCancellation()
    }
}
