internal import DunlinReactor

extension HTTPSession {
    /// How names become addresses, and how addresses become connections.
    ///
    /// The system's look-up tells no time to live, so a session has one of its own. The connections to a name try its
    /// addresses as RFC 8305 says: families in turn, a second attempt beside the first when that is slow, and the
    /// first to succeed wins. Both families are looked up in one question, so its rules for answers that come one by
    /// one do not apply.
    public struct NameResolution: Sendable, Hashable {
        public enum Order: Sendable, Hashable {
            /// As the resolver gave them.
            case asGiven
            /// Each new connection begins with the next address of each family, so that they share the load.
            case rotating
        }

        /// How long addresses are used before the name is looked up again; nil or zero: for one look-up, shared by all
        /// who wait for it. In the last fifth of that time a use has them looked up anew behind it.
        public var timeToLive: Duration? = .seconds(60)
        /// How long "no such name" counts; nil or zero: not at all. Other failures are never remembered.
        public var negativeTimeToLive: Duration? = .seconds(5)
        /// How many names are remembered.
        public var capacity = 1024
        public var order = Order.rotating
        /// How long an attempt to connect may take before the next address is tried beside it; at least 10 ms.
        public var connectionAttemptDelay: Duration = .milliseconds(250)

        public init() {}
    }
}

extension HTTP.SocketAddress {
    /// An IP address in its usual notation, such as `127.0.0.1` or `::1`; nil if the text is none.
    public init?(ip text: String, port: UInt16) {
        self.init(numericHost: text, port: port)
    }
}
