/// The deadline of the code that runs now, on the loops' clock.
struct InheritedDeadline: Sendable {
    let time: HTTP.Instant
    /// How long after its beginning that is, as the user said it.
    let length: Duration

    /// A session's `withTimeout` sets it.
    @TaskLocal static var present: InheritedDeadline?

    /// The deadline of a call that begins at `start`; throws if it has passed already. If it is an inherited one, its
    /// length takes the place of the total limit: it is what an error will have to tell.
    static func end(_ timeouts: inout Timeouts, from start: HTTP.Instant) throws -> HTTP.Instant {
        let own = timeouts.deadline(for: .total, from: start)
        guard let present, present.time < own else { return own }
        timeouts.total = present.length
        guard start < present.time else {
            throw NetworkError(
                .timedOut, "the deadline of the enclosing `withTimeout` has passed", isSafeToRetry: true,
                exceeding: .total,
                limit: present.length, elapsed: .zero)
        }
        return present.time
    }
}
