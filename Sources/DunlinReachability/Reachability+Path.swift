internal import DunlinReactor

extension Reachability {
    /// The route to some place at one time, found out without sending anything.
    public struct Path: Sendable, Hashable {
        /// The flags of the route; nil where the system does not say.
        public var flags: Reachability.Flags?
        /// The interface that it leads through.
        public var interface: NetworkInterface?

        public init(flags: Reachability.Flags?, interface: NetworkInterface? = nil) {
            self.flags = flags
            self.interface = interface
        }

        public var status: Reachability.Status { flags?.status ?? .unknown }

        /// Nothing is known.
        public static let unknown = Reachability.Path(flags: nil)
        /// There is no route.
        public static let none = Reachability.Path(flags: [])
    }
}

extension Reachability {
    /// A source of reachability: the kernel, or a test.
    public protocol PathMonitor: Sendable {
        /// One element at once, and one whenever some path may have changed. The element says no more than that; `path`
        /// is asked anew each time. An element must not come before the change can be seen.
        func changes() -> AsyncStream<Void>
        /// The route to an address; for nil, to the internet beyond all local networks.
        func path(to address: HTTP.SocketAddress?) async -> Reachability.Path
    }
}

extension Reachability {
    /// The kernel as a source of reachability.
    public struct SystemPathMonitor: Reachability.PathMonitor {
        public init() {}

        public func changes() -> AsyncStream<Void> { LinkMonitor.shared.changes() }

        /// Asks on a thread that may wait, because the kernel has locks, and some of what it knows is in files.
        public func path(to address: HTTP.SocketAddress?) async -> Reachability.Path {
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
            // A line that waits is dialled when there is something to send; a radio waits to be admitted.
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
