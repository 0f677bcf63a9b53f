/// A point in time on the loop's clock, in nanoseconds. Only the reactor reads the clock.
public struct MonotonicTime: Sendable, Hashable, Comparable {
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Later than any deadline.
    public static let never = MonotonicTime(nanoseconds: .max)

    @inlinable public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The time `duration` after this one; never beyond `never`, nor before the first there is.
    @inlinable public func advanced(by duration: Int64) -> MonotonicTime {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration)
        if overflow { return duration < 0 ? MonotonicTime(nanoseconds: .min) : .never }
        return MonotonicTime(nanoseconds: sum)
    }

    public func duration(since earlier: MonotonicTime) -> Duration {
        .nanoseconds(nanoseconds.subtractingClamped(earlier.nanoseconds))
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to what 64 bits hold (292 years).
    public var clampedNanoseconds: Int64 {
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
