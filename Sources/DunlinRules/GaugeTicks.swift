package import DunlinTypes

/// Decides when the next snapshot is due.
///
/// Rules: the first is due at once, the others at whole intervals after it. Intervals that pass while nobody asks give
/// only one snapshot, and do not move later ones.
package struct GaugeTicks: Equatable {
    private let interval: Int64
    package private(set) var next = HTTP.Instant(nanoseconds: .min)

    /// Intervals shorter than a millisecond count as one, since a loop that only takes snapshots would be useless.
    package init(every interval: Duration) {
        self.interval = max(interval.clampedNanoseconds, 1_000_000)
    }

    package mutating func took(at now: HTTP.Instant) {
        guard next > HTTP.Instant(nanoseconds: .min) else {
            next = now.advanced(by: interval)
            return
        }
        let missed = now.nanoseconds.subtractingClamped(next.nanoseconds) / interval
        next = next.advanced(by: missed * interval).advanced(by: interval)
    }
}
