extension HTTP {
    /// A point in time on the monotonic clock (`CLOCK_MONOTONIC`), which event loops read.
    public struct Instant: InstantProtocol {
        /// Nanoseconds since the clock's own beginning, as a rule the machine's start.
        public var nanoseconds: Int64

        @inlinable public init(nanoseconds: Int64) {
            self.nanoseconds = nanoseconds
        }

        /// Later than any deadline.
        public static let never = HTTP.Instant(nanoseconds: .max)

        @inlinable public static func < (left: HTTP.Instant, right: HTTP.Instant) -> Bool {
            left.nanoseconds < right.nanoseconds
        }

        /// The time `duration` after this one; never beyond `never`, nor before the first there is.
        @inlinable package func advanced(by duration: Int64) -> HTTP.Instant {
            let (sum, overflow) = nanoseconds.addingReportingOverflow(duration)
            if overflow { return duration < 0 ? HTTP.Instant(nanoseconds: .min) : .never }
            return HTTP.Instant(nanoseconds: sum)
        }

        package func duration(since earlier: HTTP.Instant) -> Duration {
            .nanoseconds(nanoseconds.subtractingClamped(earlier.nanoseconds))
        }

        public func advanced(by duration: Duration) -> HTTP.Instant { advanced(by: duration.clampedNanoseconds) }

        public func duration(to other: HTTP.Instant) -> Duration { other.duration(since: self) }
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to what 64 bits hold (292 years).
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, spill) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return spill ? (scaled < 0 ? .min : .max) : sum
    }

    /// The duration, clamped to what any clock can add to its time: 292 years at most. The system's clocks stop the
    /// program if they are asked for more.
    package var clamped: Duration { .nanoseconds(clampedNanoseconds) }
}
