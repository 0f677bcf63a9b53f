extension Reachability {
    /// What is known of a route, in the terms and with the numbers of SCNetworkReachability.
    public struct Flags: OptionSet, Sendable, Hashable, Codable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// There is a route, though something may have to come up first.
        public static let reachable = Self(rawValue: 1 << 1)
        /// Something has to come up first: the interface is down, unplugged or without an address.
        public static let connectionRequired = Self(rawValue: 1 << 2)
        /// The connection comes up by itself when something is sent.
        public static let connectionOnTraffic = Self(rawValue: 1 << 3)
        /// Something else is needed: a person, or a network that admits this machine.
        public static let interventionRequired = Self(rawValue: 1 << 4)
        /// The connection comes up when a program asks for it.
        public static let connectionOnDemand = Self(rawValue: 1 << 5)
        /// The target is on this machine.
        public static let isLocalAddress = Self(rawValue: 1 << 16)
        public static let isWWAN = Self(rawValue: 1 << 18)
        /// The interface is WiFi. SCNetworkReachability has no such flag; it takes everything but WWAN for WiFi.
        public static let isWiFi = Self(rawValue: 1 << 24)
    }
}

extension Reachability.Flags {
    /// The status by AFNetworking's rule: reachable, unless something has to come up that does not do so by itself.
    public var status: Reachability.Status {
        let comesUp = !isDisjoint(with: [.connectionOnDemand, .connectionOnTraffic])
        let isReady = !contains(.connectionRequired) || (comesUp && !contains(.interventionRequired))
        guard contains(.reachable), isReady else { return .notReachable }
        if contains(.isWWAN) { return .wwan }
        return contains(.isWiFi) ? .wifi : .wired
    }
}
