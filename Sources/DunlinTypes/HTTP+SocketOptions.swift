extension HTTP {
    /// Options that are set on a TCP socket before it connects. Unix sockets ignore them.
    public struct SocketOptions: Sendable, Hashable {
        /// The address to connect from; port 0 lets the system choose one. Peers of the other address family are not
        /// tried.
        public var localAddress: HTTP.SocketAddress?
        /// The name of the interface to send through. Before Linux 5.7 this needs CAP_NET_RAW; a local address of the
        /// interface comes closest without it.
        public var interface: String?
        /// Whether bytes are sent at once instead of waiting to fill a segment.
        public var noDelay = true
        /// The probes that ask a silent peer whether it is still there; nil for none.
        public var keepAlive: KeepAlive?
        /// How long written bytes may stay unacknowledged before the connection counts as broken, in whole
        /// milliseconds; nil leaves it to the system's number of retransmissions (about a quarter of an hour).
        public var userTimeout: Duration?
        /// The differentiated services code point (RFC 2474), 0 to 63.
        public var differentiatedServices: UInt8?
        /// The local queueing priority, 0 to 6.
        public var priority: UInt8?

        public init() {}

        /// Probes of an idle connection; durations are whole seconds.
        public struct KeepAlive: Sendable, Hashable {
            /// The silence before the first probe.
            public var idle: Duration
            /// The time between two probes.
            public var interval: Duration
            /// The number of unanswered probes after which the connection counts as broken.
            public var count: Int

            public init(idle: Duration = .seconds(60), interval: Duration = .seconds(15), count: Int = 4) {
                self.idle = idle
                self.interval = interval
                self.count = count
            }
        }
    }
}

extension HTTP.SocketOptions {
    /// What the kernel would refuse or misunderstand; nil if nothing.
    public var problem: String? {
        switch localAddress {
        case .unix(let path):
            return "localAddress must be an IP address, not the Unix socket \(VisibleText.of(path, upTo: 100))"
        case .v4, .v6, nil: break
        }
        if let interface, !Self.isName(interface) {
            return "interface must be a name of 1 to 15 bytes, not \"\(VisibleText.of(interface, upTo: 100))\""
        }
        if let keepAlive {
            let seconds = Duration.seconds(1)...Duration.seconds(32767)
            if !seconds.contains(keepAlive.idle) {
                return "keepAlive.idle must be 1 to 32767 seconds, not \(keepAlive.idle)"
            }
            if !seconds.contains(keepAlive.interval) {
                return "keepAlive.interval must be 1 to 32767 seconds, not \(keepAlive.interval)"
            }
            if !(1...127).contains(keepAlive.count) {
                return "keepAlive.count must be 1 to 127, not \(keepAlive.count)"
            }
        }
        if let userTimeout, !(.milliseconds(1) ... .milliseconds(Int32.max)).contains(userTimeout) {
            return "userTimeout must be 1 ms to 24 days, not \(userTimeout)"
        }
        if let differentiatedServices, differentiatedServices > 63 {
            return "differentiatedServices must be 0 to 63, not \(differentiatedServices)"
        }
        if let priority, priority > 6 { return "priority must be 0 to 6, not \(priority)" }
        return nil
    }

    /// Whether the kernel accepts the text as a device's name.
    private static func isName(_ text: String) -> Bool {
        (1...15).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") }
    }
}
