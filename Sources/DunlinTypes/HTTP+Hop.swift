extension HTTP {
    /// How one hop of a request spent its time.
    ///
    /// It is a value of a few words: recording it allocates nothing.
    public struct Hop: Sendable, Hashable {
        /// Times on the loop's clock, in nanoseconds; zero for a phase that did not happen.
        public var started = HTTP.Instant(nanoseconds: 0)
        public var ended = HTTP.Instant(nanoseconds: 0)
        var poolTime: Int64 = 0
        var resolveTime: Int64 = 0
        var connectTime: Int64 = 0
        var proxyTLSTime: Int64 = 0
        var tunnelTime: Int64 = 0
        var tlsTime: Int64 = 0
        var sendTime: Int64 = 0
        var firstByteTime: Int64 = 0
        var receiveTime: Int64 = 0

        /// Whether the connection was open already: it had served an earlier request or was opened ahead of need.
        public var isConnectionReused = false
        /// The number of the connection, unique in the process; 0 without a connection.
        public var connection: UInt64 = 0
        public var peer: HTTP.SocketAddress? {
            get { peerReference?.address }
            set { peerReference = newValue == nil && proxy == nil ? nil : Peer(newValue, proxy: proxy) }
        }
        /// How the connection is secured; nil for clear text.
        public var security: HTTP.ConnectionSecurity? { peerReference?.security }
        /// The proxy that the connection goes through, as a URL without user info; nil without one. `peer` is then the
        /// proxy's address.
        public var proxy: String? { peerReference?.proxy }
        /// The peer, by reference: a hop is copied at every step of its request.
        package var peerReference: Peer?
        /// The number of bytes of the request that the kernel took, including the head.
        public var bytesSent = 0
        /// The number of those that are the request's body, without chunk framing.
        public var requestBodyBytes = 0
        /// The number of bytes of the response that the kernel delivered, including the head.
        public var bytesReceived = 0
        /// The number of body bytes received, with framing removed and content codings still on. If the cache served
        /// the body, these are the bytes that it served; `bytesReceived` tells what came from the network.
        public var bodyBytes = 0
        /// The number of body bytes after content codings were removed.
        public var decodedBytes = 0

        /// What a connection and its hops share about their peer.
        package final class Peer: Sendable, Hashable {
            /// The peer's address; nil while only the proxy is known.
            package let address: HTTP.SocketAddress?
            package let security: HTTP.ConnectionSecurity?
            package let proxy: String?
            package let making: Making

            package init(
                _ address: HTTP.SocketAddress?, _ security: HTTP.ConnectionSecurity? = nil, proxy: String? = nil,
                _ making: Making = Making()
            ) {
                self.address = address
                self.security = security
                self.proxy = proxy
                self.making = making
            }

            package static func == (left: Peer, right: Peer) -> Bool {
                left.address == right.address && left.security == right.security && left.proxy == right.proxy
            }

            package func hash(into hasher: inout Hasher) {
                hasher.combine(address)
            }
        }

        /// How a connection was made, as far as that tells its peers who we are.
        package struct Making: Sendable {
            /// The terms it was opened under; nil for the usual ones.
            package var terms: (any HTTP.Route.Terms)?
            /// The generation of the TLS policy that secured it; nil for clear text.
            package var tlsGeneration: UInt64?
            /// The same for the TLS with a proxy.
            package var proxyTLSGeneration: UInt64?

            package init() {}
        }

        public init() {}

        /// How long a phase took; nil if the hop never entered it. For `receive`, it is the time the rest of
        /// the response took to arrive after its first byte, without the rests between two reads of its body.
        public func duration(of phase: HTTP.Phase) -> Duration? {
            let nanoseconds = self[phase]
            return nanoseconds > 0 ? .nanoseconds(nanoseconds) : nil
        }

        /// The time from the hop's beginning to its end, including time between phases; zero while it has not ended.
        public var total: Duration { .nanoseconds(max(0, ended.nanoseconds - started.nanoseconds)) }

        /// Counts time that belongs to no phase as time of the phase in which the hop ended, so that the phases leave
        /// no gaps. Not for the time in which a connection was opened, which is recorded apart, nor for the rest
        /// between two reads of a body.
        package mutating func fill(_ phase: HTTP.Phase) {
            guard [.pool, .send, .firstByte].contains(phase), started.nanoseconds > 0 else { return }
            let counted = HTTP.Phase.allCases.reduce(0) { $0 + self[$1] }
            self[phase] += max(0, ended.nanoseconds - started.nanoseconds - counted)
        }

        /// Notes when the request was sent, so that the phases fill the hop without gaps: earlier time that was neither
        /// waiting nor connecting counts as sending.
        package mutating func noteSent(at time: HTTP.Instant) {
            let before = poolTime + resolveTime + connectTime + tlsTime + proxyTLSTime + tunnelTime
            sendTime = time.nanoseconds - started.nanoseconds - before
        }

        /// Notes that something of the answer has come; the request was `sent` by then.
        package mutating func noteReceived(at time: HTTP.Instant, sent: HTTP.Instant, isFirst: Bool) {
            let elapsed = time.nanoseconds - sent.nanoseconds
            if isFirst { firstByteTime = elapsed }
            receiveTime = elapsed - firstByteTime
        }

        /// Nanoseconds spent in a phase.
        package subscript(_ phase: HTTP.Phase) -> Int64 {
            get {
                switch phase {
                case .pool: poolTime
                case .resolve: resolveTime
                case .connect: connectTime
                case .proxyTLS: proxyTLSTime
                case .tunnel: tunnelTime
                case .tls: tlsTime
                case .send: sendTime
                case .firstByte: firstByteTime
                case .receive: receiveTime
                }
            }
            set {
                switch phase {
                case .pool: poolTime = newValue
                case .resolve: resolveTime = newValue
                case .connect: connectTime = newValue
                case .proxyTLS: proxyTLSTime = newValue
                case .tunnel: tunnelTime = newValue
                case .tls: tlsTime = newValue
                case .send: sendTime = newValue
                case .firstByte: firstByteTime = newValue
                case .receive: receiveTime = newValue
                }
            }
        }
    }
}
