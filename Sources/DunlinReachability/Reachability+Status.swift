extension Reachability {
    /// Whether there is a route to the network, and over what.
    public enum Status: Int, Sendable, Hashable, CaseIterable, Codable {
        /// There was no look yet, or the system does not say.
        case unknown = -1
        case notReachable = 0
        /// Over a modem in a mobile network.
        case wwan = 1
        case wifi = 2
        /// Over a cable, or what looks like one: a bridge, a container's interface, a tunnel, this machine itself.
        case wired = 3

        public var isReachable: Bool {
            switch self {
            case .wwan, .wifi, .wired: true
            case .unknown, .notReachable: false
            }
        }

        /// AFNetworking's number for the status. It has none for cables, and gives them that of WiFi.
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
