extension Reachability {
    /// An attempt of one's own, for those who want to know more than whether there is a way. Made when a way is found,
    /// after each change of the network, and at its interval, for as long as somebody watches.
    public struct Probe: Sendable {
        /// From the end of one to the next.
        public var interval: Duration
        /// Whether somebody is there; throwing means no.
        public var check: @Sendable () async throws -> Bool

        /// At least a second apart.
        public init(every interval: Duration = .seconds(60), check: @escaping @Sendable () async throws -> Bool) {
            self.interval = max(interval, .seconds(1))
            self.check = check
        }
    }
}
