extension HTTPSession {
    /// How many requests may be on their way at once. Further requests wait for their turn, by priority and then in
    /// order of arrival. Without a number there is no queue.
    ///
    /// A request is on its way from its turn to the end of its response's body, redirects and retries included. A
    /// request whose host has all it may have lets those to other hosts pass. The wait has a limit of its own,
    /// `timeouts.queue`, and none by default; the other limits, `total` too, begin with the turn. A request that is
    /// suspended before its turn lets others pass and keeps its position.
    public struct QueueLimits: Sendable, Hashable {
        /// Requests to all hosts together; `nil` for any number.
        public var running: Int?
        /// Requests to one host, which is name and port of the URL asked for; `nil` for any number.
        public var runningPerHost: Int?
        /// How many requests may wait for their turn; the next fails at once, with `NetworkError` code `queueFull`.
        public var maximumWaiting: Int

        public init(running: Int? = nil, runningPerHost: Int? = nil, maximumWaiting: Int = 10_000) {
            self.running = running
            self.runningPerHost = runningPerHost
            self.maximumWaiting = maximumWaiting
        }

        /// What may run at once, as text for errors.
        var shown: String {
            let all = running.map { "`queue.running` is \($0)" }
            let each = runningPerHost.map { "`queue.runningPerHost` is \($0)" }
            return [all, each].compactMap(\.self).joined(separator: ", ")
        }

        /// Whether there is a limit to wait for.
        var isSet: Bool { running != nil || runningPerHost != nil }
    }
}
