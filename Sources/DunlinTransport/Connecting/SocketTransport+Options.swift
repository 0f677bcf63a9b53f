internal import DunlinReactor
public import DunlinTypes
public import DunlinWire

extension SocketTransport {
    /// The options of a session's connections.
    public struct Options: Sendable {
        public var connectionsPerOrigin = 128
        public var connections = 1024
        public var waiters = 10_000
        public var idleTime: Duration = .seconds(60)
        /// For how long after its opening a connection is used, and how often; nil for no limit.
        public var age: Duration?
        public var uses: Int?
        public var limits = WireLimits()
        public var resolver: any Resolver = SystemResolver.shared
        /// How long a name's addresses are kept, and how long the answer that it has none; zero: not at all.
        public var nameLife: Duration = .seconds(60)
        public var missingNameLife: Duration = .seconds(5)
        public var nameCapacity = 1024
        /// How long one look-up may take before it is begun anew.
        public var lookUpTime: Duration?
        /// The delay between two attempts at one connection.
        public var connectionAttemptDelay: Duration = .milliseconds(250)
        /// Whether connections take turns with the addresses of a name.
        public var rotatesAddresses = true
        public var sockets = HTTP.SocketOptions()
        public var interfaces = NetworkInterface.Rules.any
        /// Nil if connections are made as usual.
        public var connectionRules: ConnectionRules?
        /// The stages that each connection passes between connecting and TLS, in this order; none if it goes straight
        /// to the origin.
        var stages: [any ConnectionStage] = []

        public init() {}
    }
}
