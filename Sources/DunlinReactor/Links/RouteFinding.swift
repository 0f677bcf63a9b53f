public import DunlinTypes

/// What the kernel would do with a packet to some address, found out without sending one.
public struct RouteFinding: Sendable, Hashable {
    public enum Way: Sendable, Hashable {
        /// It does not leave this machine.
        case local
        case outward
        /// There is no route, or one that says that there is none.
        case none
        /// The system does not say.
        case unknown
    }

    public var way: Way
    /// The interface that it would be sent through.
    public var interface: NetworkInterface?
    /// Whether the interface can transfer something now.
    public var isUp = true
    /// Whether the interface is up and waits for something: to be dialled, or to be admitted to its network.
    public var isDormant = false
    /// Whether it is a line with one other end, which comes up when there is something to send.
    public var isPointToPoint = false
    /// Whether this machine has an address that packets to such a place can be sent from.
    public var hasSource = true

    public init(_ way: Way, through interface: NetworkInterface? = nil) {
        self.way = way
        self.interface = interface
    }
}

extension HTTP.SocketAddress {
    /// Whether it is in 127.0.0.0/8, in that range written as an IPv6 address, or ::1.
    public var isLoopback: Bool {
        switch self {
        case .v4(let address, _): address >> 24 == 127
        case .v6(0, 1, _, _): true
        case .v6(0, let low, _, _): low >> 24 == 0xFFFF_7F
        case .v6: false
        case .unix: true
        }
    }

    /// 169.254.0.0/16 and fe80::/10.
    var isLinkLocal: Bool {
        switch self {
        case .v4(let address, _): address >> 16 == 0xA9FE
        case .v6(let high, _, _, _): high >> 54 == 0xFE80 >> 6
        case .unix: false
        }
    }

    /// 0.0.0.0 and ::.
    var isUnspecified: Bool {
        switch self {
        case .v4(0, _), .v6(0, 0, _, _): true
        case .v4, .v6, .unix: false
        }
    }
}
