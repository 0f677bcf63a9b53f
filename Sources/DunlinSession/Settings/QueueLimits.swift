extension HTTPSession {
    /// How many requests may be on the way at once; more wait for their turn, the higher priority first and then first
    /// come, first served. Without a number there is no queue.
    ///
    /// A request is on the way from its turn to the end of its response's body, redirects and replays included. One
    /// whose host has all it may have lets those to other hosts pass. The limit of `timeouts.pool` counts for the wait
    /// and for a connection together; the others, `total` too, begin with the turn. A request that is suspended before
    /// its turn lets others pass and keeps its place in line.
    public struct QueueLimits: Sendable, Hashable {
        /// To all hosts together; `nil` for any number.
        public var running: Int?
        /// To one host, which is name and port of the URL asked for; `nil` for any number.
        public var runningPerHost: Int?
        /// How many requests may wait for their turn; the next fails at once, with `NetworkError` code `queueFull`.
        public var maximumWaiting: Int

        public init(running: Int? = nil, runningPerHost: Int? = nil, maximumWaiting: Int = 10_000) {
            self.running = running
            self.runningPerHost = runningPerHost
            self.maximumWaiting = maximumWaiting
        }

        /// Whether there is anything to wait for.
        var isSet: Bool { running != nil || runningPerHost != nil }
    }
}
