internal import DunlinReactor

extension Reachability {
    /// The route to a destination at one time, found without sending anything.
    public struct Path: Sendable, Hashable {
        /// The route's flags; nil if the system does not say.
        public var flags: Reachability.Flags?
        /// The interface that the route leads through.
        public var interface: NetworkInterface?

        public init(flags: Reachability.Flags?, interface: NetworkInterface? = nil) {
            self.flags = flags
            self.interface = interface
        }

        public var status: Reachability.Status { flags?.status ?? .unknown }

        /// A path of which nothing is known.
        public static let unknown = Reachability.Path(flags: nil)
        /// A path without a route.
        public static let none = Reachability.Path(flags: [])
    }
}

extension Reachability {
    /// A source of reachability: the kernel or a test.
    public protocol PathMonitor: Sendable {
        /// A stream with one element at once, and one whenever a path may have changed. Elements carry no details;
        /// `path` is called anew after each. An element must not come before the change is visible.
        func changes() -> AsyncStream<Void>
        /// Returns the route to an address; for nil, the route to the internet beyond all local networks.
        func path(to address: HTTP.SocketAddress?) async -> Reachability.Path
    }
}

extension Reachability {
    /// The kernel as a source of reachability.
    struct SystemPathMonitor: Reachability.PathMonitor {
        func changes() -> AsyncStream<Void> { LinkMonitor.shared.changes() }

        /// Asks on a thread that may wait, because the kernel takes locks and some of its information is in files.
        func path(to address: HTTP.SocketAddress?) async -> Reachability.Path {
            Reachability.Path(await DiskThreads.shared.run { RouteFinder().finding(for: address) })
        }
    }
}

extension Reachability.Path {
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
            // A waiting modem line dials when something is sent; a radio waits to be admitted to its network.
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
