extension HTTP {
    /// The numbers of connections, and of requests that wait for one, at one moment: for one origin or a whole session.
    ///
    /// Totals are counted since the session began, or since its last restart.
    public struct ConnectionGauges: Sendable, Hashable, Codable {
        /// The number of connections, including those being opened.
        public var open = 0
        /// The number of connections that no request uses.
        public var idle = 0
        /// The number of requests that wait for a connection.
        public var waiting = 0
        /// The number of connections opened since the session began.
        public var opened = 0
        /// How often an open connection was given to a further request, since the session began. This includes
        /// connections that the server turns out to have closed.
        public var reuses = 0
        /// The number of connections that could not be opened, since the session began: the name was not resolved,
        /// nobody accepted the connection, TLS failed, or a limit was exceeded. Connections whose request was cancelled
        /// meanwhile are not counted.
        public var failed = 0
        /// The number of connections being opened that wait for the addresses of a name.
        public var inResolve = 0
        /// The number of connections being opened that wait to be accepted.
        public var inConnect = 0
        /// The number of connections being opened that have reached a proxy and wait for its tunnel.
        public var inProxy = 0
        /// The number of connections being opened that are in the TLS handshake with their origin.
        public var inTLS = 0

        public init() {}

        /// The number of connections that a request uses or that are being opened.
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
    /// The numbers with their names, on one line.
    public var description: String {
        Self.columns.map { "\($0.title) \(self[keyPath: $0.value])" }.joined(separator: ", ")
    }

    /// The columns of a table of these numbers, with short titles.
    package static var columns: [(title: String, value: KeyPath<Self, Int>)] {
        [
            ("open", \.open), ("idle", \.idle), ("waiting", \.waiting), ("opened", \.opened), ("reuses", \.reuses),
            ("failed", \.failed), ("resolve", \.inResolve), ("connect", \.inConnect), ("proxy", \.inProxy),
            ("tls", \.inTLS),
        ]
    }
}
