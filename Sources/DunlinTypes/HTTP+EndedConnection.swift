extension HTTP {
    /// A connection that was closed.
    public struct EndedConnection: Sendable, Hashable {
        /// Why a connection was closed. More reasons may be added.
        public enum Reason: String, Sendable, Hashable, CaseIterable {
            /// It was idle for too long, or the server had said that it would close it about now.
            case idle
            /// It was as old, or had served as many requests, as the session's settings allow.
            case worn
            /// Its last exchange did not leave it fit for another: it failed or was cancelled, the response was not
            /// read to its end, or the client or the server had asked to close it.
            case unfit
            /// The server closed it while it was idle, or sent something that nobody had asked for.
            case server
            /// It made room for a connection to another origin or on another loop, or was open beyond the limits for
            /// one request.
            case displaced
            /// What secures it is no longer valid: the session's TLS settings were replaced.
            case outdated
            /// The session was shut down, restarted or released.
            case shutDown
        }

        /// The number of the connection, unique in the process, as in `Hop.connection`.
        public var number: UInt64
        public var origin: HTTP.Origin
        /// The address that it was connected to: the proxy's, if there is one.
        public var peer: HTTP.SocketAddress?
        /// The proxy that it went through, as a URL without user info; nil without one.
        public var proxy: String?
        /// How it was secured; nil for clear text.
        public var security: HTTP.ConnectionSecurity?
        public var reason: Reason
        /// How long it was open.
        public var age: Duration
        /// How many requests it served.
        public var uses: Int

        public init(
            number: UInt64, origin: HTTP.Origin, peer: HTTP.SocketAddress? = nil, proxy: String? = nil,
            security: HTTP.ConnectionSecurity? = nil, reason: Reason, age: Duration, uses: Int
        ) {
            self.number = number
            self.origin = origin
            self.peer = peer
            self.proxy = proxy
            self.security = security
            self.reason = reason
            self.age = age
            self.uses = uses
        }
    }
}
