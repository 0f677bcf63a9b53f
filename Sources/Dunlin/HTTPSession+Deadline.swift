internal import DunlinReactor

extension HTTPSession {
    /// When the work underway must be over, on the loops' clock; set by `withDeadline`.
    @TaskLocal static var inheritedDeadline: MonotonicTime?

    /// Gives everything that `operation` asks for, here or in what it calls and starts, `duration` altogether.
    ///
    /// Each request keeps its own limits too; the nearest one counts. A request that begins after the deadline is
    /// refused with `NetworkError` code `timedOut` before anything is sent. Deadlines nest: an inner one can only be
    /// nearer. It bounds requests, not `operation`'s own work.
    public func withDeadline<Value>(
        in duration: Duration, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        let deadline = loop.now().advanced(by: max(0, duration.clampedNanoseconds))
        let nearest = min(deadline, Self.inheritedDeadline ?? .never)
        return try await Self.$inheritedDeadline.withValue(nearest) { try await operation() }
    }

    /// The end of a request that begins at `start`; throws if that has passed already.
    static func deadline(_ timeouts: Timeouts, from start: MonotonicTime) throws -> MonotonicTime {
        let own = timeouts.deadline(for: .total, from: start)
        guard let inherited = inheritedDeadline, inherited < own else { return own }
        guard start < inherited else {
            throw NetworkError(
                .timedOut, "the deadline this request inherits has passed", phase: .total, isSafeToRetry: true,
                elapsed: .zero)
        }
        return inherited
    }
}
