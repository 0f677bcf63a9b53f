internal import DunlinReactor

/// The way to some place as it is at one moment, found out without sending anything.
public struct NetworkPath: Sendable, Hashable {
    /// Nil where the system does not say.
    public var flags: Reachability.Flags?
    /// What it leads out through.
    public var interface: NetworkInterface?

    public init(flags: Reachability.Flags?, interface: NetworkInterface? = nil) {
        self.flags = flags
        self.interface = interface
    }

    public var status: Reachability.Status { flags?.status ?? .unknown }

    /// Nothing is known.
    public static let unknown = NetworkPath(flags: nil)
    /// There is no way.
    public static let none = NetworkPath(flags: [])
}

/// Where reachability comes from: the kernel, or whatever a test says.
public protocol NetworkPathMonitoring: Sendable {
    /// One element at once, and one whenever some path may have changed. It says no more than that: `path` does, which
    /// is asked anew each time. An element must not come before what changed is there to be seen.
    func changes() -> AsyncStream<Void>
    /// The way to an address, or to the world beyond all local networks where none is given.
    func path(to address: HTTP.SocketAddress?) async -> NetworkPath
}

/// What the kernel says.
public struct SystemNetworkPathMonitor: NetworkPathMonitoring {
    public init() {}

    public func changes() -> AsyncStream<Void> { LinkMonitor.shared.changes() }

    /// On a thread that may wait: the kernel has locks, and some of what it knows is in files.
    public func path(to address: HTTP.SocketAddress?) async -> NetworkPath {
        NetworkPath(await DiskThreads.shared.run { RouteFinder().finding(for: address) })
    }
}

extension NetworkPath {
    init(_ finding: RouteFinding) {
        switch finding.way {
        case .unknown: self = .unknown
        case .none: self = .none
        case .local: self.init(flags: [.reachable, .isLocalAddress], interface: finding.interface)
        case .outward: self.init(flags: finding.outwardFlags, interface: finding.interface)
        }
    }
}

extension RouteFinding {
    fileprivate var outwardFlags: Reachability.Flags {
        var flags: Reachability.Flags = .reachable
        if !isUp || !hasSource { flags.insert(.connectionRequired) }
        if isDormant {
            // A line that waits is dialled when there is something to send; a radio waits to be let in.
            flags.formUnion([.connectionRequired, .connectionOnTraffic])
            if !isPointToPoint { flags.insert(.interventionRequired) }
        }
        switch interface?.kind {
        case .wwan: flags.insert(.isWWAN)
        case .wifi: flags.insert(.isWiFi)
        case .wired, .tunnel, .loopback, nil: break
        }
        return flags
    }
}
