extension TransferJournal {
    /// How often and how soon what failed is tried again.
    public struct Rules: Sendable, Hashable {
        /// How often at most, over all processes. None: never by itself.
        public var attempts = 10
        /// Before it is tried again for the first time; doubled each time after.
        public var firstDelay = Duration.seconds(1)
        public var longestDelay = Duration.seconds(300)
        /// Names of fields that are written down although they look like secrets.
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
