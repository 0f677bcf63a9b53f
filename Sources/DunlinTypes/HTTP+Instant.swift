extension HTTP {
    /// A point in time on the monotonic clock (`CLOCK_MONOTONIC`), which event loops read.
    public struct Instant: InstantProtocol {
        /// Nanoseconds since the clock's own beginning, as a rule the machine's start.
        public var nanoseconds: Int64

        @inlinable public init(nanoseconds: Int64) {
            self.nanoseconds = nanoseconds
        }

        /// A time later than any deadline.
        public static let never = HTTP.Instant(nanoseconds: .max)

        @inlinable public static func < (left: HTTP.Instant, right: HTTP.Instant) -> Bool {
            left.nanoseconds < right.nanoseconds
        }

        /// The time `duration` nanoseconds after this one, clamped to `never` and to the first time there is.
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
    /// The duration in whole nanoseconds, clamped to 64 bits (292 years).
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, spill) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return spill ? (scaled < 0 ? .min : .max) : sum
    }

    /// The duration, clamped to 292 years, which any clock can add to its time. The system's clocks trap on longer
    /// ones.
    package var clamped: Duration { .nanoseconds(clampedNanoseconds) }
}
