extension TransferJournal {
    /// How often and how soon a transfer that failed has another attempt.
    public struct Rules: Sendable, Hashable {
        /// How many attempts it has at most, over all processes: those that failed count, not those that were stopped
        /// or that ended with their process. With 0, as with 1, it has none by itself after the one that it was begun
        /// for.
        public var attempts = 10
        /// The wait before the second attempt; it doubles each time.
        public var firstDelay = Duration.seconds(1)
        public var longestDelay = Duration.seconds(300)
        /// Names of fields that are saved although they look like secrets.
        public var keptFields: Set<String> = ["Idempotency-Key"]
        /// Whether URLs are saved whole. By default values of their queries are not whose names look like secrets, as
        /// in signed URLs, or that have such a name encoded in them, and whoever restores such a transfer gives it its
        /// URL (`Transfer.needsURL`). With `true` the folder is as secret as they are; only its user can read it.
        public var keepsSecretsOfURLs = false

        public init() {}

        func delay(after failures: Int) -> Duration {
            let longest = min(longestDelay, .seconds(Int64.max))
            var delay = firstDelay
            for _ in 0..<min(failures, 30) where delay < longest { delay *= 2 }
            return min(delay, longest)
        }
    }
}
