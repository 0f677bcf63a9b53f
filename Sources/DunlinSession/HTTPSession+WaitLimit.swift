internal import DunlinReactor

extension HTTPSession {
    /// How long to wait for the result of another's request: as long as a request of one's own could take.
    package struct WaitLimit: Sendable, Hashable {
        /// The limit from the beginning of the wait; nil for none.
        package let total: Duration?
        /// The deadline of the asking code, on the loops' clock; `never` if there is none. It counts even before the
        /// wait has begun. `length` is the duration that `withTimeout` was given.
        package let inherited: HTTP.Instant
        package let length: Duration?

        package init(total: Duration?, inherited: HTTP.Instant = .never, length: Duration? = nil) {
            (self.total, self.inherited, self.length) = (total, inherited, length)
        }

        /// The end of a wait that began at `start`, or, for nil, has not begun.
        package func end(from start: HTTP.Instant?) -> HTTP.Instant {
            guard let start, let total else { return inherited }
            return min(inherited, start.advanced(by: total.clampedNanoseconds))
        }

        /// The error of a wait whose time had run out at `now`.
        package func failure(
            _ reason: String = "the request timed out", from start: HTTP.Instant?, at now: HTTP.Instant,
            phase: HTTP.Phase? = nil, requestMayHaveBeenSent: Bool
        ) -> NetworkError {
            let (limit, elapsed): (Duration?, Duration?) =
                if let start, let total, start.advanced(by: total.clampedNanoseconds) <= inherited {
                    (total, now.duration(since: start))
                } else {
                    (length, length.map { $0 + now.duration(since: inherited) })
                }
            return NetworkError(
                .timedOut, reason, phase: phase, requestMayHaveBeenSent: requestMayHaveBeenSent, isSafeToRetry: true,
                exceeding: .total, limit: limit, elapsed: elapsed)
        }
    }

    /// The deadline of the running code, for whoever waits for what others have begun.
    package struct PresentDeadline: Sendable {
        private let deadline: InheritedDeadline

        /// Nil if there is none.
        package init?() {
            guard let present = InheritedDeadline.present else { return nil }
            deadline = present
        }

        /// Waits until it passes, and returns the error of that; nil if the awaiting task is cancelled before.
        package func passed() async -> NetworkError? {
            let left = max(0, deadline.time.nanoseconds - deadline.loop.now().nanoseconds)
            guard await deadline.loop.rest(nanoseconds: left) else { return nil }
            let limit = WaitLimit(total: nil, inherited: deadline.time, length: deadline.length)
            return limit.failure(
                InheritedDeadline.hasPassed, from: nil, at: deadline.loop.now(), requestMayHaveBeenSent: true)
        }
    }

    /// The limit that a request of the running code would have with this total.
    package func waitLimit(_ total: PerRequest<Duration>) -> WaitLimit {
        let inherited = InheritedDeadline.present
        return WaitLimit(
            total: RequestTimeouts(total: total).over(configuration.timeouts).total,
            inherited: inherited?.time ?? .never,
            length: inherited?.length)
    }

    /// The current time on the clock of the session's loops.
    package var loopTime: HTTP.Instant { core.loops[0].now() }

    /// Whether requests wait for their turn, before any of their limits begins.
    package var hasQueue: Bool { core.queue != nil }
}
