extension HTTPSession {
    /// The limits for how many requests may run at once. Further requests wait for their turn, by priority and then in
    /// order of arrival. Without limits there is no queue.
    ///
    /// A request runs from its turn to the end of its response's body, including redirects and retries. Requests to a
    /// full host let those to other hosts pass. The wait has its own limit, `timeouts.queue`, which is none by default;
    /// the other limits, including `total`, begin with the turn. A request that is suspended before its turn lets
    /// others pass and keeps its position.
    public struct QueueLimits: Sendable, Hashable {
        /// The number of requests to all hosts together; nil for no limit.
        public var running: Int?
        /// The number of requests to one host, by name and port of the requested URL; nil for no limit.
        public var runningPerOrigin: Int?
        /// The number of requests that may wait for their turn. One more fails at once with `NetworkError` code
        /// `queueFull`.
        public var maximumWaiting: Int

        public init(running: Int? = nil, runningPerOrigin: Int? = nil, maximumWaiting: Int = 10_000) {
            self.running = running
            self.runningPerOrigin = runningPerOrigin
            self.maximumWaiting = maximumWaiting
        }

        /// The limits as text for errors.
        var shown: String {
            let all = running.map { "`queue.running` is \($0)" }
            let each = runningPerOrigin.map { "`queue.runningPerOrigin` is \($0)" }
            return [all, each].compactMap(\.self).joined(separator: ", ")
        }

        /// Whether there is a limit.
        var isSet: Bool { running != nil || runningPerOrigin != nil }
    }
}
