extension HTTPSession {
    /// The limits of one request that differ from its session's; omitted ones are the session's.
    public struct RequestTimeouts: Sendable, Hashable {
        /// The wait for the request's turn in the session's queue.
        public var queue: PerRequest<Duration>
        public var pool: PerRequest<Duration>
        public var resolve: PerRequest<Duration>
        public var connect: PerRequest<Duration>
        public var proxyTLS: PerRequest<Duration>
        public var tunnel: PerRequest<Duration>
        public var tls: PerRequest<Duration>
        public var send: PerRequest<Duration>
        public var firstByte: PerRequest<Duration>
        public var readIdle: PerRequest<Duration>
        /// Each attempt, from its connection to the head of its response.
        public var attempt: PerRequest<Duration>
        /// The whole request, including all attempts and redirects.
        public var total: PerRequest<Duration>

        public init(
            queue: PerRequest<Duration> = .session, pool: PerRequest<Duration> = .session,
            resolve: PerRequest<Duration> = .session,
            connect: PerRequest<Duration> = .session, proxyTLS: PerRequest<Duration> = .session,
            tunnel: PerRequest<Duration> = .session,
            tls: PerRequest<Duration> = .session, send: PerRequest<Duration> = .session,
            firstByte: PerRequest<Duration> = .session,
            readIdle: PerRequest<Duration> = .session, attempt: PerRequest<Duration> = .session,
            total: PerRequest<Duration> = .session
        ) {
            (self.queue, self.pool, self.resolve, self.connect) = (queue, pool, resolve, connect)
            (self.proxyTLS, self.tunnel, self.tls) = (proxyTLS, tunnel, tls)
            (self.send, self.firstByte, self.readIdle) = (send, firstByte, readIdle)
            (self.attempt, self.total) = (attempt, total)
        }

        /// Creates limits that replace all of the session's.
        public init(_ timeouts: Timeouts) {
            self.init()
            for limit in Timeouts.Limit.allCases { self[limit] = PerRequest<Duration>(timeouts[limit]) }
        }

        public subscript(_ limit: Timeouts.Limit) -> PerRequest<Duration> {
            get { self[keyPath: Self.path(limit)] }
            set { self[keyPath: Self.path(limit)] = newValue }
        }

        /// The session's limits, overridden by these.
        func over(_ session: Timeouts) -> Timeouts {
            var timeouts = session
            for limit in Timeouts.Limit.allCases {
                switch self[limit] {
                case .session: break
                case .none: timeouts[limit] = nil
                case .value(let duration): timeouts[limit] = duration
                }
            }
            return timeouts
        }

        /// These limits, and the former ones where these are the session's.
        func laid(over former: Self) -> Self {
            var laid = former
            for limit in Timeouts.Limit.allCases where !self[limit].isSession { laid[limit] = self[limit] }
            return laid
        }

        private static func path(_ limit: Timeouts.Limit) -> WritableKeyPath<Self, PerRequest<Duration>> {
            switch limit {
            case .pool: \.pool
            case .resolve: \.resolve
            case .connect: \.connect
            case .proxyTLS: \.proxyTLS
            case .tunnel: \.tunnel
            case .tls: \.tls
            case .send: \.send
            case .firstByte: \.firstByte
            case .readIdle: \.readIdle
            case .queue: \.queue
            case .attempt: \.attempt
            case .total: \.total
            }
        }
    }
}
