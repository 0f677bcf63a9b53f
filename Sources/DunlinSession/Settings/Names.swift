internal import DunlinReactor

extension HTTPSession {
    /// How names are looked up, and how connections to their addresses are tried.
    ///
    /// The system's look-up returns no time to live, so a session has its own. Connections to a name try its addresses
    /// by RFC 8305: address families alternate, a second attempt begins in parallel when the first is slow, and the
    /// first to succeed wins. Both families are looked up in one query, so the RFC's rules for separate answers do not
    /// apply.
    public struct NameResolution: Sendable, Hashable {
        public enum Order: Sendable, Hashable {
            /// In the order that the resolver returned.
            case asGiven
            /// Each new connection begins with the next address of each family, so that the addresses share the load.
            case rotating
        }

        /// How long addresses are used before the name is looked up again. With nil or zero, they are used only by
        /// those who waited for the same look-up. A use in the last fifth of that time starts a new look-up in the
        /// background.
        public var timeToLive: Duration? = .seconds(60)
        /// How long the answer "no such name" is cached; nil or zero: not at all. Other failures are never cached.
        public var negativeTimeToLive: Duration? = .seconds(5)
        /// The number of names that are cached.
        public var capacity = 1024
        public var order = Order.rotating
        /// How long a connection attempt may take before the next address is tried in parallel; at least 10 ms.
        public var connectionAttemptDelay: Duration = .milliseconds(250)

        public init() {}
    }
}

extension HTTP.SocketAddress {
    /// Creates an IP address from its usual notation, such as `127.0.0.1` or `::1`; nil for other text.
    public init?(ip text: String, port: UInt16) {
        self.init(numericHost: text, port: port)
    }
}
