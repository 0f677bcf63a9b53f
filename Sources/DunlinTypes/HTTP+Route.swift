extension HTTP {
    /// How connections to an origin are made where that differs from the usual route.
    ///
    /// The route is part of the origin's identity: a connection made by one route is never used for a request that
    /// asked for another.
    package struct Route: Sendable, Hashable {
        /// The address to connect to instead of the host's own; port 0 means the origin's port.
        package var address: HTTP.SocketAddress?
        /// The socket options; nil for the session's.
        package var sockets: HTTP.SocketOptions?
        /// The rules for interfaces; nil for the session's.
        package var interfaces: NetworkInterface.Rules?
        /// Further terms that connections must have in common to be shared.
        package var terms: (any Terms)?

        package init(
            address: HTTP.SocketAddress? = nil, sockets: HTTP.SocketOptions? = nil,
            interfaces: NetworkInterface.Rules? = nil
        ) {
            self.address = address
            self.sockets = sockets
            self.interfaces = interfaces
        }

        package static func == (left: Route, right: Route) -> Bool {
            left.address == right.address && left.sockets == right.sockets && left.interfaces == right.interfaces
                && areSame(left.terms, right.terms)
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(address)
            hasher.combine(sockets)
            hasher.combine(interfaces)
            terms?.hash(into: &hasher)
        }

        private static func areSame(_ left: (any Terms)?, _ right: (any Terms)?) -> Bool {
            guard let left, let right else { return left == nil && right == nil }
            return left === right || left.areSame(as: right)
        }
    }
}

extension HTTP.Route {
    /// Terms that a layer above defines; this layer only compares them for equality.
    package protocol Terms: AnyObject, Sendable {
        func areSame(as other: any Terms) -> Bool
        func hash(into hasher: inout Hasher)
        /// The name of connections to the origin under these terms; nil for the usual name.
        func name(of origin: HTTP.Origin) -> String?
    }
}
