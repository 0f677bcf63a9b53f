extension HTTPSession {
    /// The limits for how many requests may run at once. Further requests wait for their turn, by priority and then in
    /// order of arrival. Without limits there is no queue.
    ///
    /// A request runs from its turn to the end of its response's body, including redirects and retries. Requests to a
    /// full host let those to other hosts pass. The wait has its own limit, `timeouts.queue`, which is none by default;
    /// the other limits, including `total`, begin with the turn. A request that is suspended before its turn lets
    /// others pass and keeps its position.
    ///
    /// Each session has a queue of its own, unless ``shared(by:)`` makes one of several.
    public struct QueueLimits: Sendable, Hashable {
        /// The number of requests to all hosts together; nil for no limit.
        public var running: Int?
        /// The number of requests to one host, by name and port of the requested URL; nil for no limit.
        public var runningPerOrigin: Int?
        /// The number of requests that may wait for their turn. One more fails at once with `NetworkError` code
        /// `queueFull`.
        public var maximumWaiting: Int
        /// The queue that these are the limits of, if several sessions are to have it.
        var shared: RequestQueue?

        public init(running: Int? = nil, runningPerOrigin: Int? = nil, maximumWaiting: Int = 10_000) {
            self.running = running
            self.runningPerOrigin = runningPerOrigin
            self.maximumWaiting = maximumWaiting
        }

        /// Returns the limits of one queue, which all sessions have that get them. They cannot be changed afterwards.
        ///
        /// ```swift
        /// let limits = HTTPSession.QueueLimits(runningPerOrigin: 8)
        ///     .shared { $0.fields["X-Tenant"] ?? "" }
        /// ```
        ///
        /// `key` tells what `runningPerOrigin` counts for, by a request's head before interceptors and credentials
        /// change it; without one that is the host of its URL. It is called for each request, on any thread.
        ///
        /// A request that is awaited within a request of a session made after the queue does not wait in it: the two
        /// might wait for each other. A handle's request does, so await it only after the scope.
        public func shared(by key: (@Sendable (RequestHead) -> String)? = nil) -> QueueLimits {
            var limits = self
            limits.shared = nil
            limits.shared = RequestQueue(limits, of: .shared(), by: key)
            return limits
        }

        /// What is wrong with how the queue is shared; nil if nothing.
        var problem: String? {
            guard let shared else { return nil }
            var limits = self
            limits.shared = nil
            if limits != shared.limits { return "shared was called before the limits were set: call it last" }
            if !isSet { return "shared needs a limit: `queue.running` or `queue.runningPerOrigin`" }
            let needsLimit = shared.key != nil && runningPerOrigin == nil
            return needsLimit ? "shared(by:) needs `queue.runningPerOrigin`, which counts for each key" : nil
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
