extension NetworkError {
    /// The error if every route leads through interfaces that the rules refuse.
    public struct InterfaceRefusal: Error, Sendable, Hashable {
        /// The interfaces that the routes lead through; empty where the system does not say.
        public var interfaces: [NetworkInterface]
        public var rules: NetworkInterface.Rules

        public init(interfaces: [NetworkInterface], rules: NetworkInterface.Rules) {
            self.interfaces = interfaces
            self.rules = rules
        }
    }
}

extension NetworkError.InterfaceRefusal: CustomStringConvertible {
    public var description: String {
        let names = interfaces.map(\.description).joined(separator: ", ")
        let ways =
            interfaces.isEmpty
            ? "the system does not say which interface leads there" : "the routes lead through \(names)"
        return "\(ways); the rules say: \(rules)"
    }
}
