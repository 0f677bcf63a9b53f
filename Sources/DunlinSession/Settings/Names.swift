internal import DunlinReactor

extension HTTPSession {
    /// How names are looked up, and how connections to their addresses are tried.
    ///
    /// The system's look-up gives no time to live, so a session has one of its own. Connections to a name try its
    /// addresses as RFC 8305 says: families in turn, a second attempt beside the first when that is slow, and the first
    /// to succeed wins. Both families are looked up in one query, so the RFC's rules for answers that come one by one
    /// do not apply.
    public struct NameResolution: Sendable, Hashable {
        public enum Order: Sendable, Hashable {
            /// In the order in which the resolver gave them.
            case asGiven
            /// Each new connection begins with the next address of each family, so that the addresses share the load.
            case rotating
        }

        /// How long addresses are used before the name is looked up again. With nil or zero they are used for one
        /// look-up, which is shared by all who wait for it. A use in the last fifth of that time starts a new look-up
        /// in the background.
        public var timeToLive: Duration? = .seconds(60)
        /// How long the answer "no such name" is kept; nil or zero: not at all. Other failures are never kept.
        public var negativeTimeToLive: Duration? = .seconds(5)
        /// How many names are kept.
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
