internal import DunlinTypes

/// Counts the latest outcomes, up to a number and an age.
///
/// It keeps ten buckets at most, whatever the number is. A bucket is full when it holds a tenth of the number, or a
/// tenth of the age is over; so what is forgotten is forgotten by tenths.
struct OutcomeWindow: Sendable {
    struct Counts: Sendable {
        var all = 0
        var failed = 0
        var slow = 0
    }

    private struct Bucket {
        let began: HTTP.Instant
        var counts = Counts()
    }

    private static let most = 10

    private let bucketSize: Int
    private let bucketAge: Int64
    private var buckets: [Bucket] = []
    private(set) var counts = Counts()

    init(outcomes: Int, window: Duration) {
        bucketSize = max(1, (outcomes + Self.most - 1) / Self.most)
        bucketAge = max(1, window.clampedNanoseconds / Int64(Self.most))
    }

    mutating func add(failed: Bool, slow: Bool, at now: HTTP.Instant) {
        forget(at: now)
        if buckets.last.map({ isFull($0, at: now) }) ?? true { buckets.append(Bucket(began: now)) }
        while buckets.count > Self.most { removeFirst() }
        let last = buckets.count - 1
        Self.count(&buckets[last].counts, failed: failed, slow: slow)
        Self.count(&counts, failed: failed, slow: slow)
    }

    private func isFull(_ bucket: Bucket, at now: HTTP.Instant) -> Bool {
        bucket.counts.all >= bucketSize || now >= bucket.began.advanced(by: bucketAge)
    }

    /// Forgets what is older than the window.
    private mutating func forget(at now: HTTP.Instant) {
        while let first = buckets.first,
            now.nanoseconds.subtractingClamped(first.began.nanoseconds) / Int64(Self.most) >= bucketAge
        {
            removeFirst()
        }
    }

    private mutating func removeFirst() {
        let old = buckets.removeFirst().counts
        counts.all -= old.all
        counts.failed -= old.failed
        counts.slow -= old.slow
    }

    private static func count(_ counts: inout Counts, failed: Bool, slow: Bool) {
        counts.all += 1
        if failed { counts.failed += 1 }
        if slow { counts.slow += 1 }
    }
}
