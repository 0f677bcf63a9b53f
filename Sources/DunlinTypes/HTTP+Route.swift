extension HTTP {
    /// How connections to an origin are made where that differs from the usual route.
    ///
    /// It is a part of the origin's identity: a connection made by one route is never used for a request that asked for
    /// another.
    public struct Route: Sendable, Hashable {
        /// The address to connect to, whatever the host's name stands for; port 0 means the origin's own.
        public var address: HTTP.SocketAddress?
        /// Instead of the session's.
        public var sockets: HTTP.SocketOptions?
        /// Instead of the session's.
        public var interfaces: NetworkInterface.Rules?

        public init(
            address: HTTP.SocketAddress? = nil, sockets: HTTP.SocketOptions? = nil,
            interfaces: NetworkInterface.Rules? = nil
        ) {
            self.address = address
            self.sockets = sockets
            self.interfaces = interfaces
        }
    }
}
