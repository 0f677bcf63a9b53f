extension HTTPSession {
    /// The connections to one origin, or of a whole session, at one moment.
    /// What a session is at, in numbers: how many requests, how many connections to whom, how many retries are left.
    ///
    /// It prints as a table. As JSON it is one object with the names that it has here.
    public struct Gauges: Sendable, Hashable, Codable {
        /// The running requests, as `tasks` lists them: those that wait, and those suspended, included.
        public var running = 0
        /// Those of them that wait for their turn in the session's queue; zero where the queue has no limits.
        public var queued = 0
        /// Those of them that wait for the response to another like them (`configuration.coalescing`).
        public var coalesced = 0
        /// The session's connections; nil over a custom transport, which has its own.
        public var pool: Pool?
        /// How many retries each origin's budget would allow now. An origin is missing that no request with a budget
        /// was for: it has as many as the policy's floor says.
        public var retriesLeft: [String: Int] = [:]

        /// What the session's cache is at; nil without one.
        public var cache: Cache.Gauges?

        public init() {}

        /// The connections of a session, by origin.
        public struct Pool: Sendable, Hashable, Codable {
            /// By scheme, host and port, such as `https://api.test:8443`; where the route names another address,
            /// followed by that, as in `http://docker via unix:/run/docker.sock`. Routes that differ in nothing else
            /// but socket options or interfaces are counted as one.
            ///
            /// These are the origins that have connections or waiting requests, and of the others the 128 or more that
            /// had any last.
            public var origins: [String: HTTP.ConnectionGauges] = [:]
            /// What was counted of all origins that are not listed any more. One that comes back begins at 0.
            public var others = HTTP.ConnectionGauges()

            public init() {}

            /// All origins together.
            public var total: HTTP.ConnectionGauges { origins.values.reduce(into: others) { $0 += $1 } }
        }
    }
}
