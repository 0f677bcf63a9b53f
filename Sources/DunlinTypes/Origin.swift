/// Scheme, host and port: what a connection may be shared for (RFC 9110 §4.3).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    public enum Scheme: String, Sendable, Hashable {
        case http
        case https

        public var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    public let scheme: Scheme
    /// Lower-case ASCII; an IPv6 address without its brackets.
    public let host: String
    public let port: UInt16
    /// The Unix socket that stands in for host and port, if one does. A leading NUL means an abstract name.
    public let socketPath: String?
    /// The Host field's value: brackets around IPv6, no user info, no default port.
    public let authority: String

    public init(scheme: Scheme, host: String, port: UInt16? = nil, socketPath: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.socketPath = socketPath
        let literal = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        authority = self.port == scheme.defaultPort ? literal : "\(literal):\(self.port)"
    }

    public static func == (left: Origin, right: Origin) -> Bool {
        left.port == right.port && left.scheme == right.scheme && left.host == right.host
            && left.socketPath == right.socketPath
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(port)
        hasher.combine(host)
        if let socketPath { hasher.combine(socketPath) }
    }

    public var description: String { "\(scheme.rawValue)://\(authority)" }
}
