extension HTTP {
    /// Scheme, host, port and the route to them. Requests that have all of these in common may share a connection (RFC
    /// 9110 §4.3).
    public struct Origin: Sendable, Hashable, CustomStringConvertible {
        public enum Scheme: String, Sendable, Hashable {
            case http
            case https

            public var defaultPort: UInt16 { self == .http ? 80 : 443 }

            /// What a URL begins with.
            package var prefix: String { self == .http ? "http://" : "https://" }
        }

        /// The parts in one immutable object, so that an origin is passed as one reference and compares fast with
        /// itself.
        private final class Parts: Sendable {
            let scheme: Scheme
            let host: String
            let port: UInt16
            let route: HTTP.Route?
            let authority: String
            let isHostChecked: Bool
            let isRouted: Bool

            init(_ scheme: Scheme, _ host: String, _ port: UInt16, _ route: HTTP.Route?, isHostChecked: Bool) {
                self.scheme = scheme
                self.host = host
                self.port = port
                self.route = route
                self.isHostChecked = isHostChecked
                if case .none = route { isRouted = false } else { isRouted = true }
                let literal = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
                authority = port == scheme.defaultPort ? literal : "\(literal):\(port)"
            }
        }

        private let parts: Parts

        public init(scheme: Scheme, host: String, port: UInt16? = nil) {
            self.init(scheme: scheme, host: host, port: port, route: nil)
        }

        package init(scheme: Scheme, host: String, port: UInt16? = nil, route: HTTP.Route?) {
            parts = Parts(scheme, host, port ?? scheme.defaultPort, route, isHostChecked: false)
        }

        public init(scheme: Scheme, host: String, port: UInt16? = nil, socketPath: String) {
            self.init(scheme: scheme, host: host, port: port, route: HTTP.Route(address: .unix(socketPath)))
        }

        /// Creates an origin with a host whose characters were checked already.
        package init(scheme: Scheme, checkedHost host: String, port: UInt16?) {
            parts = Parts(scheme, host, port ?? scheme.defaultPort, nil, isHostChecked: true)
        }

        /// A copy with another route.
        package func over(_ route: HTTP.Route) -> HTTP.Origin {
            HTTP.Origin(parts: Parts(scheme, host, port, route, isHostChecked: isHostChecked))
        }

        /// A copy with the usual route.
        package var unrouted: HTTP.Origin {
            if route == nil { return self }
            return HTTP.Origin(parts: Parts(scheme, host, port, nil, isHostChecked: isHostChecked))
        }

        /// Whether scheme, host and port are the same, whatever the routes. Such origins may see each other's secrets.
        public func isSame(as other: HTTP.Origin) -> Bool {
            parts === other.parts || (port == other.port && scheme == other.scheme && host == other.host)
        }

        private init(parts: Parts) {
            self.parts = parts
        }

        public var scheme: Scheme { parts.scheme }
        /// The host in lower-case ASCII; an IPv6 address has no brackets.
        public var host: String { parts.host }
        public var port: UInt16 { parts.port }
        /// The route to the origin; nil for the usual one: look the host up and connect with the session's socket
        /// options.
        package var route: HTTP.Route? { parts.route }
        /// Whether it has a route of its own.
        package var isRouted: Bool { parts.isRouted }
        /// The path of the Unix socket to connect to instead of host and port; nil without one. A leading NUL marks an
        /// abstract name.
        public var socketPath: String? {
            if case .unix(let path) = route?.address { path } else { nil }
        }
        /// The Host field's value: brackets around IPv6, no user info, no default port.
        public var authority: String { parts.authority }
        /// Whether the host is known to contain only characters that a host may have.
        package var isHostChecked: Bool { parts.isHostChecked }

        public static func == (left: HTTP.Origin, right: HTTP.Origin) -> Bool {
            left.parts === right.parts
                || (left.port == right.port && left.scheme == right.scheme && left.host == right.host
                    && left.route == right.route)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(port)
            hasher.combine(host)
            if let route { hasher.combine(route) }
        }

        public var description: String { scheme.prefix + authority }
    }
}
