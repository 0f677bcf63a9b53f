extension HTTP {
    /// How connections to an origin are made where that differs from the usual way.
    ///
    /// A part of the origin's identity: a connection made one way is never lent to a request that asked for another.
    public struct Route: Sendable, Hashable {
        /// Where to connect to, whatever the host's name says; port 0 stands for the origin's own.
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
