extension HTTPSession {
    /// The connections to one origin, or of a whole session, at one moment.
    ///
    /// What is counted since the session began is counted from its last restart on, if it was restarted.
    public struct ConnectionGauges: Sendable, Hashable, Codable {
        /// All connections, those being opened included.
        public var open = 0
        /// Connections that no request uses.
        public var idle = 0
        /// Requests that wait for a connection.
        public var waiting = 0
        /// Connections opened since the session began.
        public var opened = 0
        /// How often an open connection was given to a further request, since the session began. One counts too that
        /// its server turns out to have closed meanwhile.
        public var reuses = 0
        /// Connections that could not be opened, since the session began: the name was not resolved, nobody accepted
        /// the connection, TLS failed, or a limit was exceeded. One whose request was cancelled meanwhile does not
        /// count.
        public var failed = 0
        /// Connections being opened that wait for the addresses of a name.
        public var inResolve = 0
        /// Connections being opened that wait for somebody to accept them.
        public var inConnect = 0
        /// Connections being opened that are in the TLS handshake.
        public var inTLS = 0

        public init() {}

        /// Connections that a request uses or that are being opened.
        public var leased: Int { open - idle }

        static func += (sum: inout Self, other: Self) {
            sum.open += other.open
            sum.idle += other.idle
            sum.waiting += other.waiting
            sum.opened += other.opened
            sum.reuses += other.reuses
            sum.failed += other.failed
            sum.inResolve += other.inResolve
            sum.inConnect += other.inConnect
            sum.inTLS += other.inTLS
        }
    }
}
