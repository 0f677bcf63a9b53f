internal import DunlinReactor

extension HTTPSession {
    /// Gives all requests that `operation` makes, itself or in what it calls and starts, `duration` altogether.
    ///
    /// Each request keeps its own limits too; the nearest one counts. A request that begins after the deadline is
    /// refused with `NetworkError` code `timedOut` before anything is sent. Deadlines nest: an inner one can only be
    /// nearer. It bounds requests, not `operation`'s own work.
    public func withTimeout<Value>(
        _ duration: Duration, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        let deadline = core.loop.now().advanced(by: max(0, duration.clampedNanoseconds))
        if let outer = InheritedDeadline.present, outer.time <= deadline { return try await operation() }
        let nearest = InheritedDeadline(time: deadline, length: duration)
        return try await InheritedDeadline.$present.withValue(nearest) { try await operation() }
    }
}
