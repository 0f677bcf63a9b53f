/// The deadline of the code that runs now, on the loops' clock.
enum InheritedDeadline {
    /// A session's `withTimeout` sets it.
    @TaskLocal static var present: MonotonicTime?

    /// The deadline of a call that begins at `start`; throws if it has passed already.
    static func end(_ timeouts: Timeouts, from start: MonotonicTime) throws -> MonotonicTime {
        let own = timeouts.deadline(for: .total, from: start)
        guard let inherited = present, inherited < own else { return own }
        guard start < inherited else {
            throw NetworkError(
                .timedOut, "the deadline this request inherits has passed", isSafeToRetry: true, exceeding: .total,
                elapsed: .zero)
        }
        return inherited
    }
}
