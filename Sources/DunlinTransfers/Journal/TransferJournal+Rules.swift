extension TransferJournal {
    /// How often and how soon a transfer that failed has another attempt.
    public struct Rules: Sendable, Hashable {
        /// How many attempts it has at most, over all processes. With 0 it has none by itself.
        public var attempts = 10
        /// The wait before the second attempt; it doubles each time.
        public var firstDelay = Duration.seconds(1)
        public var longestDelay = Duration.seconds(300)
        /// Names of fields that are saved although they look like secrets.
        public var keptFields: Set<String> = ["Idempotency-Key"]

        public init() {}

        func delay(after failures: Int) -> Duration {
            let longest = min(longestDelay, .seconds(Int64.max))
            var delay = firstDelay
            for _ in 0..<min(failures, 30) where delay < longest { delay *= 2 }
            return min(delay, longest)
        }
    }
}
