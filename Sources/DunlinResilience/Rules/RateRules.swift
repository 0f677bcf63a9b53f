/// How many requests may be sent in a time, and how long one waits for its turn.
package struct RateRules: Sendable, Equatable {
    /// So many requests may be sent in each `per`, evenly; `Int.max` if only the server's limits count.
    package var requests: Int
    package var per: Duration
    /// So many may be sent at once after a pause.
    package var burst: Int
    package var mostWaiting: Int
    package var longestWait: Duration

    package init(
        requests: Int, per: Duration = .seconds(1), burst: Int = 1, mostWaiting: Int = 1000,
        longestWait: Duration = .seconds(60)
    ) {
        self.requests = requests
        self.per = per
        self.burst = burst
        self.mostWaiting = mostWaiting
        self.longestWait = longestWait
    }
}
