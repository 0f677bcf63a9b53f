extension HTTP {
    /// How one hop of a request spent its time. A value of a few words: recording it allocates nothing.
    public struct Hop: Sendable, Hashable {
        /// Nanoseconds on the loop's clock; zero where a phase did not happen.
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

        /// Whether the connection was open already: it served an earlier request or was opened ahead of need.
        public var isConnectionReused = false
        /// The number of the connection, unique in the process; 0 when there was none.
        public var connection: UInt64 = 0
        public var peer: HTTP.SocketAddress? {
            get { peerReference?.address }
            set { peerReference = newValue == nil && proxy == nil ? nil : Peer(newValue, proxy: proxy) }
        }
        /// How the connection is secured; nil in clear text.
        public var security: HTTP.ConnectionSecurity? { peerReference?.security }
        /// The proxy that the connection goes through, as a URL without user info; nil for none. `peer` is its address.
        public var proxy: String? { peerReference?.proxy }
        /// The address by reference: a hop is copied at every step of its request.
        package var peerReference: Peer?
        /// Bytes of the request that the kernel took, head included.
        public var bytesSent = 0
        /// Bytes of the response that came from the kernel, head included.
        public var bytesReceived = 0
        /// Bytes of the body as they came, content codings still on, framing off.
        public var bodyBytes = 0
        /// Bytes of the body with its content codings taken off.
        public var decodedBytes = 0

        /// What a connection and its hops share about their peer.
        package final class Peer: Sendable, Hashable {
            /// Nil while only the proxy is known.
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

        /// How a connection was made, where that says who we are to those at its other end.
        package struct Making: Sendable {
            /// Nil for as usual.
            package var terms: (any HTTP.Route.Terms)?
            /// The generation of the TLS policy it was secured by; nil in clear text.
            package var tlsGeneration: UInt64?
            /// The same of the TLS with a proxy.
            package var proxyTLSGeneration: UInt64?

            package init() {}
        }

        public init() {}

        /// How long a phase took; `nil` when the hop never entered it. `receive` is the time the body took to arrive.
        public func duration(of phase: HTTP.Phase) -> Duration? {
            let nanoseconds = self[phase]
            return nanoseconds > 0 ? .nanoseconds(nanoseconds) : nil
        }

        /// From its beginning to its end, with what lies between the phases; zero while it has no end.
        public var total: Duration { .nanoseconds(max(0, ended.nanoseconds - started.nanoseconds)) }

        /// Counts the time that no phase has yet for the one in which the hop ended, so that the phases fill it without
        /// gaps. What a connection is opened by has its own times, and between two reads of a body others may rest.
        package mutating func fill(_ phase: HTTP.Phase) {
            guard [.pool, .send, .firstByte].contains(phase), started.nanoseconds > 0 else { return }
            let told = HTTP.Phase.allCases.reduce(0) { $0 + self[$1] }
            self[phase] += max(0, ended.nanoseconds - started.nanoseconds - told)
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
