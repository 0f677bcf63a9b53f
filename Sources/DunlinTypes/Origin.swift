/// Scheme, host and port: what a connection may be shared for (RFC 9110 §4.3).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    public enum Scheme: String, Sendable, Hashable {
        case http
        case https

        public var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    /// One immutable object, so that an origin is passed along by one reference and is quickly equal to itself.
    private final class Parts: Sendable {
        let scheme: Scheme
        let host: String
        let port: UInt16
        let socketPath: String?
        let authority: String
        let isHostChecked: Bool

        init(_ scheme: Scheme, _ host: String, _ port: UInt16, _ socketPath: String?, isHostChecked: Bool) {
            self.scheme = scheme
            self.host = host
            self.port = port
            self.socketPath = socketPath
            self.isHostChecked = isHostChecked
            let literal = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            authority = port == scheme.defaultPort ? literal : "\(literal):\(port)"
        }
    }

    private let parts: Parts

    public init(scheme: Scheme, host: String, port: UInt16? = nil, socketPath: String? = nil) {
        parts = Parts(scheme, host, port ?? scheme.defaultPort, socketPath, isHostChecked: false)
    }

    /// For whoever has checked the host character by character: nobody does so again.
    package init(scheme: Scheme, checkedHost host: String, port: UInt16?) {
        parts = Parts(scheme, host, port ?? scheme.defaultPort, nil, isHostChecked: true)
    }

    /// The same origin, reached through a Unix socket.
    package func over(_ socketPath: String) -> Origin {
        Origin(parts: Parts(scheme, host, port, socketPath, isHostChecked: isHostChecked))
    }

    private init(parts: Parts) {
        self.parts = parts
    }

    public var scheme: Scheme { parts.scheme }
    /// Lower-case ASCII; an IPv6 address without its brackets.
    public var host: String { parts.host }
    public var port: UInt16 { parts.port }
    /// The Unix socket that stands in for host and port, if one does. A leading NUL means an abstract name.
    public var socketPath: String? { parts.socketPath }
    /// The Host field's value: brackets around IPv6, no user info, no default port.
    public var authority: String { parts.authority }
    /// The host is known to have only characters that a host may have.
    public var isHostChecked: Bool { parts.isHostChecked }

    public static func == (left: Origin, right: Origin) -> Bool {
        left.parts === right.parts
            || (left.port == right.port && left.scheme == right.scheme && left.host == right.host
                && left.socketPath == right.socketPath)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(port)
        hasher.combine(host)
        if let socketPath { hasher.combine(socketPath) }
    }

    public var description: String { "\(scheme.rawValue)://\(authority)" }
}
