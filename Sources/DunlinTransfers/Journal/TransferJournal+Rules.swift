extension TransferJournal {
    /// How often and how soon a failed transfer is attempted again.
    public struct Rules: Sendable, Hashable {
        /// The greatest number of attempts, over all processes. Attempts that failed count; those that were stopped or
        /// ended with their process do not. With 0 or 1, a transfer is not attempted again by itself.
        public var attempts = 10
        /// The wait before the second attempt; it doubles each time.
        public var firstDelay = Duration.seconds(1)
        public var longestDelay = Duration.seconds(300)
        /// The names of fields that are saved although they look secret.
        public var keptFields: Set<String> = ["Idempotency-Key"]
        /// Whether URLs are saved complete. By default, query values are left out if their names look secret, as in
        /// signed URLs, or if they contain such a name encoded; whoever restores such a transfer must give its URL
        /// (`Transfer.needsURL`). With `true`, the folder is as secret as the URLs; only its user can read it.
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
