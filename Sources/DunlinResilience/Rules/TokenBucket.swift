internal import DunlinTypes

/// A token bucket, told by when its next token is due instead of by how many it has.
///
/// A bucket with room for `burst` tokens gives one when it has been `interval` since the last, or when it has saved
/// some: the last of its tokens may be at most `burst - 1` intervals ahead of the time.
struct TokenBucket: Sendable {
    var interval: Int64
    private let burst: Int
    /// When the next token is due if none is taken early.
    private var due: Int64

    init(interval: Int64, burst: Int = 1, from start: HTTP.Instant) {
        self.interval = max(0, interval)
        self.burst = burst
        due = start.nanoseconds
    }

    /// When the token after so many others may be taken, at the earliest now.
    func time(after others: Int, at now: HTTP.Instant) -> HTTP.Instant {
        let due = max(due, now.nanoseconds).addingClamped(Self.product(interval, others))
        let early = Self.product(interval, max(0, burst - 1))
        return HTTP.Instant(nanoseconds: max(due.subtractingClamped(early), now.nanoseconds))
    }

    /// Whether it has all its tokens.
    func isFull(at now: HTTP.Instant) -> Bool { due <= now.nanoseconds }

    /// Takes a token, whether or not one is due.
    mutating func take(at now: HTTP.Instant) {
        due = max(due, now.nanoseconds).addingClamped(interval)
    }

    private static func product(_ interval: Int64, _ count: Int) -> Int64 {
        let (product, overflow) = interval.multipliedReportingOverflow(by: Int64(count))
        return overflow ? .max : product
    }
}
