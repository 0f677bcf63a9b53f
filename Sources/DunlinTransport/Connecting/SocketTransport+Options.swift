internal import DunlinReactor
public import DunlinTypes
public import DunlinWire

extension SocketTransport {
    /// The options of a session's connections.
    public struct Options: Sendable {
        public var connectionsPerOrigin = 128
        public var connections = 1024
        public var waiters = 10_000
        /// Whether a request, by its number, may wait for a connection; nil if all may. It is asked in the request's
        /// task, before it would wait.
        package var mayWait: (@Sendable (_ request: UInt64) -> Bool)?
        public var idleTime: Duration = .seconds(60)
        /// How long and how often a connection is used; nil for no limit.
        public var age: Duration?
        public var uses: Int?
        public var limits = WireLimits()
        public var resolver: any Resolver = SystemResolver.shared
        /// How long a name's addresses, and the answer that it has none, are cached; zero for not at all.
        public var nameLife: Duration = .seconds(60)
        public var missingNameLife: Duration = .seconds(5)
        public var nameCapacity = 1024
        /// How long a look-up may take before it is begun again.
        public var lookUpTime: Duration?
        /// The delay between two attempts at one connection.
        public var connectionAttemptDelay: Duration = .milliseconds(250)
        /// Whether connections rotate through the addresses of a name.
        public var rotatesAddresses = true
        public var sockets = HTTP.SocketOptions()
        public var interfaces = NetworkInterface.Rules.any
        /// The connection rules; nil for the usual ones.
        public var connectionRules: ConnectionRules?
        /// The stages of each connection between connecting and TLS, in this order; empty for a direct connection to
        /// the origin.
        var stages: [any ConnectionStage] = []

        public init() {}
    }
}
