extension NetworkInterface {
    /// The kind of network behind an interface, as far as the system can tell.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// This machine itself.
        case loopback
        /// A cable or something like it: bridges, and the interfaces of containers and virtual machines.
        case wired
        case wifi
        /// A modem in a mobile network.
        case wwan
        /// A network inside another: WireGuard, tun, PPP, GRE. The interface below it cannot be seen.
        case tunnel
    }
}

/// An interface of this machine.
public struct NetworkInterface: Sendable, Hashable, CustomStringConvertible {
    public var name: String
    /// The system's number for the interface; 0 if it is not known.
    public var index: Int
    public var kind: NetworkInterface.Kind

    public init(name: String, index: Int = 0, kind: NetworkInterface.Kind) {
        self.name = name
        self.index = index
        self.kind = kind
    }

    public var description: String { "\(name) (\(kind.rawValue))" }
}
