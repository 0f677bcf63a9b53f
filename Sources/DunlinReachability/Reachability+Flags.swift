extension Reachability {
    /// What is known of a route, in the terms of SCNetworkReachability, with its numbers.
    public struct Flags: OptionSet, Sendable, Hashable, Codable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// There is a route, though something may have to come up first.
        public static let reachable = Self(rawValue: 1 << 1)
        /// Something has to come up first: the interface is down or unplugged, or has no address.
        public static let connectionRequired = Self(rawValue: 1 << 2)
        /// It comes up by itself as soon as something is sent.
        public static let connectionOnTraffic = Self(rawValue: 1 << 3)
        /// It takes more than that: a person, or a network that admits this machine.
        public static let interventionRequired = Self(rawValue: 1 << 4)
        /// It comes up when a program asks for it.
        public static let connectionOnDemand = Self(rawValue: 1 << 5)
        /// The target is on this machine.
        public static let isLocalAddress = Self(rawValue: 1 << 16)
        public static let isWWAN = Self(rawValue: 1 << 18)
        /// The interface is WiFi. SCNetworkReachability has no such flag, and takes for WiFi whatever is not WWAN.
        public static let isWiFi = Self(rawValue: 1 << 24)
    }
}

extension Reachability.Flags {
    /// AFNetworking's rule: reachable, and nothing has to come up first that does not come up by itself.
    public var status: Reachability.Status {
        let comesUp = !isDisjoint(with: [.connectionOnDemand, .connectionOnTraffic])
        let isReady = !contains(.connectionRequired) || (comesUp && !contains(.interventionRequired))
        guard contains(.reachable), isReady else { return .notReachable }
        if contains(.isWWAN) { return .wwan }
        return contains(.isWiFi) ? .wifi : .wired
    }
}
