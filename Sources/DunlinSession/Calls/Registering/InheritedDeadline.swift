internal import DunlinReactor

/// The deadline of the running code, on the loops' clock.
struct InheritedDeadline: Sendable {
    let time: HTTP.Instant
    /// A loop whose clock it is on.
    let loop: Reactor
    /// The duration that the user gave for it.
    let length: Duration

    /// The current deadline, set by a session's `withTimeout`.
    @TaskLocal static var present: InheritedDeadline?

    /// What happened, for errors.
    static let hasPassed = "the deadline of the enclosing `withTimeout` has passed"

    /// The deadline of a call that begins at `start`; throws if it has passed. An inherited deadline replaces the total
    /// limit by its own duration, which an error will report.
    static func end(_ timeouts: inout Timeouts, from start: HTTP.Instant) throws -> HTTP.Instant {
        let own = timeouts.deadline(for: .total, from: start)
        guard let present, present.time < own else { return own }
        timeouts.total = present.length
        guard start < present.time else {
            throw NetworkError(
                .timedOut, hasPassed, isSafeToRetry: true, exceeding: .total, limit: present.length, elapsed: .zero)
        }
        return present.time
    }
}
