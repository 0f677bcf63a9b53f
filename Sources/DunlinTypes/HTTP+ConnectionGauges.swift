extension HTTP {
    /// The connections to one origin, or of a whole session, at one moment: how many there are, and how many requests
    /// wait for one.
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
        /// Connections being opened that have reached a proxy, which has made no tunnel yet.
        public var inProxy = 0
        /// Connections being opened that are in the TLS handshake with their origin.
        public var inTLS = 0

        public init() {}

        /// Connections that a request uses or that are being opened.
        public var leased: Int { open - idle }

        package static func += (sum: inout Self, other: Self) {
            sum.open += other.open
            sum.idle += other.idle
            sum.waiting += other.waiting
            sum.opened += other.opened
            sum.reuses += other.reuses
            sum.failed += other.failed
            sum.inResolve += other.inResolve
            sum.inConnect += other.inConnect
            sum.inProxy += other.inProxy
            sum.inTLS += other.inTLS
        }
    }
}

extension HTTP.ConnectionGauges: CustomStringConvertible {
    /// The numbers with their names, in one line.
    public var description: String {
        Self.columns.map { "\($0.title) \(self[keyPath: $0.value])" }.joined(separator: ", ")
    }

    /// The numbers, with short names.
    package static var columns: [(title: String, value: KeyPath<Self, Int>)] {
        [
            ("open", \.open), ("idle", \.idle), ("waiting", \.waiting), ("opened", \.opened), ("reuses", \.reuses),
            ("failed", \.failed), ("resolve", \.inResolve), ("connect", \.inConnect), ("proxy", \.inProxy),
            ("tls", \.inTLS),
        ]
    }
}
