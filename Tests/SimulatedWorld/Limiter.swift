internal import DunlinResilience

/// A server's limit on all its clients together, which are one customer.
package struct Limiter {
    package struct Rules: Sendable {
        package var quota = 100
        /// In seconds.
        package var window = 10.0
        /// Whether the window slides with each request, or begins at fixed times.
        package var slides = false

        package init(quota: Int = 100, window: Double = 10, slides: Bool = false) {
            (self.quota, self.window, self.slides) = (quota, window, slides)
        }
    }

    private let rules: Rules
    /// The times of the requests that count, the oldest first.
    private var times: [Int64] = []

    init(_ rules: Rules) { self.rules = rules }

    private var window: Int64 { Int64(rules.window * 1e9) }

    /// Counts a request; what is said to one that is over the limit.
    mutating func refusal(at now: Int64) -> Answer? {
        forget(at: now)
        guard times.count < rules.quota else {
            let limit = state(at: now)
            return .limited(limit, retryAfter: Int64((limit.reset ?? .zero).components.seconds) * 1_000_000_000)
        }
        times.append(now)
        return nil
    }

    /// What the fields of a response say, in whole seconds.
    func state(at now: Int64) -> LearnedLimit {
        let end = rules.slides ? (times.first ?? now) + window : (now / window + 1) * window
        return LearnedLimit(
            quota: rules.quota, window: .seconds(rules.window), remaining: rules.quota - times.count,
            reset: .seconds((max(1, end - now) + 999_999_999) / 1_000_000_000))
    }

    private mutating func forget(at now: Int64) {
        let start = rules.slides ? now - window : now / window * window
        if let first = times.first, first < start || rules.slides && first == start {
            times.removeFirst(times.firstIndex { rules.slides ? $0 > start : $0 >= start } ?? times.count)
        }
    }
}
