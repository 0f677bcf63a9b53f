extension Reachability {
    /// Whether there is a route to the network, and by which kind of interface.
    public enum Status: Int, Sendable, Hashable, CaseIterable, Codable {
        /// Nothing has been found out yet, or the system does not say.
        case unknown = -1
        case notReachable = 0
        /// Reachable through a modem in a mobile network.
        case wwan = 1
        case wifi = 2
        /// Reachable through a cable or something like it: a bridge, a container's interface, a tunnel, or this machine
        /// itself.
        case wired = 3

        public var isReachable: Bool {
            switch self {
            case .wwan, .wifi, .wired: true
            case .unknown, .notReachable: false
            }
        }

        /// AFNetworking's number for the status. It has none for cables, which get that of WiFi.
        public var compatibilityValue: Int { self == .wired ? Reachability.Status.wifi.rawValue : rawValue }
    }
}

extension Reachability.Status: CustomStringConvertible {
    /// AFNetworking's text for the status.
    public var description: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .wwan: "Reachable via WWAN"
        case .wifi: "Reachable via WiFi"
        case .wired: "Reachable via Ethernet"
        }
    }
}
