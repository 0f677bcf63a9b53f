extension HTTPSession {
    /// The limits of one request that differ from its session's; those that are left out are the session's.
    public struct RequestTimeouts: Sendable, Hashable {
        /// The wait for the request's turn in the session's queue.
        public var queue: TimeLimit
        public var pool: TimeLimit
        public var resolve: TimeLimit
        public var connect: TimeLimit
        public var proxyTLS: TimeLimit
        public var tunnel: TimeLimit
        public var tls: TimeLimit
        public var send: TimeLimit
        public var firstByte: TimeLimit
        public var readIdle: TimeLimit
        /// The whole request, whatever attempts and redirects it takes.
        public var total: TimeLimit

        public init(
            queue: TimeLimit = .session, pool: TimeLimit = .session, resolve: TimeLimit = .session,
            connect: TimeLimit = .session, proxyTLS: TimeLimit = .session, tunnel: TimeLimit = .session,
            tls: TimeLimit = .session, send: TimeLimit = .session, firstByte: TimeLimit = .session,
            readIdle: TimeLimit = .session, total: TimeLimit = .session
        ) {
            (self.queue, self.pool, self.resolve, self.connect) = (queue, pool, resolve, connect)
            (self.proxyTLS, self.tunnel, self.tls) = (proxyTLS, tunnel, tls)
            (self.send, self.firstByte, self.readIdle, self.total) = (send, firstByte, readIdle, total)
        }

        /// All of these, whatever the session says.
        public init(_ timeouts: Timeouts) {
            self.init()
            for limit in Timeouts.Limit.allCases { self[limit] = TimeLimit(timeouts[limit]) }
        }

        public subscript(_ limit: Timeouts.Limit) -> TimeLimit {
            get { self[keyPath: Self.path(limit)] }
            set { self[keyPath: Self.path(limit)] = newValue }
        }

        /// The session's, with these in their places.
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

        private static func path(_ limit: Timeouts.Limit) -> WritableKeyPath<Self, TimeLimit> {
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
            case .total: \.total
            }
        }
    }
}
