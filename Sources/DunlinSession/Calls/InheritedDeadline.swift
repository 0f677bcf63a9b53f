/// When the work underway must be over, on the loops' clock.
enum InheritedDeadline {
    /// Set by a session's `withTimeout`.
    @TaskLocal static var present: MonotonicTime?

    /// The end of a request that begins at `start`; throws if that has passed already.
    static func end(_ timeouts: Timeouts, from start: MonotonicTime) throws -> MonotonicTime {
        let own = timeouts.deadline(for: .total, from: start)
        guard let inherited = present, inherited < own else { return own }
        guard start < inherited else {
            throw NetworkError(
                .timedOut, "the deadline this request inherits has passed", phase: .total, isSafeToRetry: true,
                elapsed: .zero)
        }
        return inherited
    }
}
