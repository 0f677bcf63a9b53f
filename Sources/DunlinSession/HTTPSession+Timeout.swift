internal import DunlinReactor

extension HTTPSession {
    /// Limits all requests that `operation` makes, directly or in what it calls and starts, to `duration` altogether.
    ///
    /// Each request keeps its own limits too; the earliest applies. A request that begins after the deadline fails with
    /// `NetworkError` code `timedOut` before anything is sent. Deadlines nest: an inner one can only be earlier. Only
    /// requests are limited, not `operation`'s own work.
    public func withTimeout<Value>(
        _ duration: Duration, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        let deadline = core.loop.now().advanced(by: max(0, duration.clampedNanoseconds))
        if let outer = InheritedDeadline.present, outer.time <= deadline { return try await operation() }
        let nearest = InheritedDeadline(time: deadline, loop: core.loop, length: duration)
        return try await InheritedDeadline.$present.withValue(nearest) { try await operation() }
    }
}
