extension HTTPSession {
    /// A session's numbers at one moment: of requests, of connections to each origin, of retries left.
    ///
    /// It prints as a table. Its JSON is an object with the same names.
    public struct Gauges: Sendable, Hashable, Codable {
        /// The number of running requests, as in `tasks`, including waiting and suspended ones.
        public var requests = 0
        /// The number of those that wait for their turn in the session's queue; zero if the queue has no limits.
        public var queued = 0
        /// The number of those that wait for the response to an identical request (`configuration.coalescing`).
        public var coalesced = 0
        /// The session's connections; nil with a custom transport, which has its own.
        public var pool: Pool?
        /// The number of retries that each origin's budget allows now. Origins without requests that have a budget are
        /// missing; they have as many as the policy's floor.
        public var retriesLeft: [String: Int] = [:]

        /// The cache's numbers; nil without a cache.
        public var cache: Cache.Gauges?

        public init() {}

        /// The connections of a session, by origin.
        public struct Pool: Sendable, Hashable, Codable {
            /// The numbers by scheme, host and port, such as `https://api.test:8443`, followed by the route's address
            /// if it has one: `http://docker via unix:/run/docker.sock`. Routes that differ only in socket options or
            /// interfaces are counted as one.
            ///
            /// These are the origins that have connections or waiting requests, and of the others the 128 or more that
            /// had any last.
            public var origins: [String: HTTP.ConnectionGauges] = [:]
            /// The totals of all origins that are no longer listed. An origin that comes back begins at 0.
            public var others = HTTP.ConnectionGauges()

            public init() {}

            /// The sum of all origins.
            public var total: HTTP.ConnectionGauges { origins.values.reduce(into: others) { $0 += $1 } }
        }
    }
}
