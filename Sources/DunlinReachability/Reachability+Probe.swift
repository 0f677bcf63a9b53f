extension Reachability {
    /// A check of your own, to know more than whether there is a route. It runs when a route is found, after each
    /// change of the network, and at its interval, as long as there are observers.
    public struct Probe: Sendable {
        /// The time from the end of one check to the next.
        public var interval: Duration
        /// Returns whether the target answers; throwing means that it does not.
        public var check: @Sendable () async throws -> Bool

        /// Creates a probe. Checks are at least a second apart.
        public init(every interval: Duration = .seconds(60), check: @escaping @Sendable () async throws -> Bool) {
            self.interval = max(interval, .seconds(1))
            self.check = check
        }
    }
}
