extension NetworkInterface {
    /// Which interfaces connections may go through.
    ///
    /// ```swift
    /// configuration.interfaces = .deny(kinds: .wwan)
    /// configuration.interfaces = .allow(names: "eth0", "wlan0")
    /// ```
    ///
    /// Rules:
    /// 1. An interface that is denied, by name or by kind, is never used. If any are allowed, only those are used.
    /// 2. Traffic within this machine, over `loopback` or a Unix socket, is allowed unless it is denied.
    /// 3. A tunnel counts only as a tunnel, because the interface below it cannot be seen: to avoid all traffic over a
    ///    modem, deny `tunnel` as well.
    public struct Rules: Sendable, Hashable, Codable {
        public var allowedNames: Set<String> = []
        public var allowedKinds: Set<NetworkInterface.Kind> = []
        public var deniedNames: Set<String> = []
        public var deniedKinds: Set<NetworkInterface.Kind> = []

        public init() {}

        /// Every interface: the system chooses.
        public static let any = NetworkInterface.Rules()

        public static func allow(names: String..., kinds: NetworkInterface.Kind...) -> NetworkInterface.Rules {
            allow(Set(names), Set(kinds))
        }

        public static func deny(names: String..., kinds: NetworkInterface.Kind...) -> NetworkInterface.Rules {
            deny(Set(names), Set(kinds))
        }

        package static func allow(
            _ names: Set<String>, _ kinds: Set<NetworkInterface.Kind>
        ) -> NetworkInterface.Rules {
            var rules = NetworkInterface.Rules()
            (rules.allowedNames, rules.allowedKinds) = (names, kinds)
            return rules
        }

        package static func deny(
            _ names: Set<String>, _ kinds: Set<NetworkInterface.Kind>
        ) -> NetworkInterface.Rules {
            var rules = NetworkInterface.Rules()
            (rules.deniedNames, rules.deniedKinds) = (names, kinds)
            return rules
        }

        public var isAny: Bool {
            allowedNames.isEmpty && allowedKinds.isEmpty && deniedNames.isEmpty && deniedKinds.isEmpty
        }

        public func allows(_ interface: NetworkInterface) -> Bool {
            if deniedNames.contains(interface.name) || deniedKinds.contains(interface.kind) { return false }
            if interface.kind == .loopback || (allowedNames.isEmpty && allowedKinds.isEmpty) { return true }
            return allowedNames.contains(interface.name) || allowedKinds.contains(interface.kind)
        }
    }
}

extension NetworkInterface.Rules: CustomStringConvertible {
    public var description: String {
        if isAny { return "any interface" }
        let allowed = allowedNames.sorted() + allowedKinds.map(\.rawValue).sorted()
        let denied = deniedNames.sorted() + deniedKinds.map(\.rawValue).sorted()
        let sentences = [
            allowed.isEmpty ? nil : "only \(allowed.joined(separator: ", "))",
            denied.isEmpty ? nil : "not \(denied.joined(separator: ", "))",
        ]
        return sentences.compactMap(\.self).joined(separator: ", ")
    }
}
