public import DunlinTypes

extension LoopbackServer {
    /// How a server speaks TLS: what it shows, what it agrees to, what it asks of clients.
    ///
    /// ```swift
    /// let authority = try CertificateAuthority()
    /// let server = try LoopbackServer(tls: .init(authority.issue(.server("127.0.0.1"))))
    /// ```
    ///
    /// The server's own rules are as weak as OpenSSL lets them be, so that only the client refuses weak keys and old
    /// versions. Tickets resume sessions on any connection that has the same value or a copy of it; a value made anew
    /// knows none of the others' tickets.
    public struct TLS: Sendable {
        public enum Version: Sendable, Hashable, Comparable {
            case v1_0, v1_1, v1_2, v1_3
        }

        /// What is asked of clients.
        public enum ClientCertificate: Sendable, Hashable {
            case ignored
            /// Asked for; a client without one is welcome too.
            case requested
            /// A client without one is refused.
            case required
        }

        /// Chain and key.
        public var identity: IssuedCertificate
        /// Others, for clients that ask for these names by SNI; names are compared as they stand, in lower case.
        public var identities: [String: IssuedCertificate] = [:]
        public var versions = Version.v1_2...Version.v1_3
        /// OpenSSL's names, with colons between them; nil for its default.
        public var ciphersBefore1_3: String?
        public var ciphers: String?
        public var groups: String?
        /// For ALPN, best first. Empty: the server does not know ALPN; otherwise a client that offers none of them is
        /// refused.
        public var protocols: [String] = []
        /// How many tickets a TLS 1.3 client gets after a handshake; 0 turns them off for TLS 1.2 as well.
        public var tickets = 2
        /// An OCSP response, for clients that ask.
        public var staple: Bytes?
        public var clientCertificate = ClientCertificate.ignored
        /// Who may have issued a client's certificate, as DER; told to the client. Empty: anybody, even the client
        /// itself.
        public var clientAuthorities: [Bytes] = []
        /// What tickets are encrypted with.
        let ticketKeys: [UInt8]

        public init(_ identity: IssuedCertificate) {
            self.identity = identity
            var random = SystemRandomNumberGenerator()
            ticketKeys = (0..<80).map { _ in random.next() }
        }
    }

    /// What client and server agreed on.
    public struct Handshake: Sendable, Hashable {
        public let version: TLS.Version
        /// OpenSSL's name for it.
        public let cipher: String
        /// What the client asked for by SNI.
        public let serverName: String?
        /// By ALPN.
        public let negotiatedProtocol: String?
        public let wasResumed: Bool
        /// The client's own certificate, as DER.
        public let clientCertificate: Bytes?
        /// Counted from 0 in order of acceptance.
        public let connection: Int
    }

    /// What goes wrong before there is a TLS connection. Counts are bytes of what the server sends in the handshake;
    /// one that is more than that spoils nothing. A server without TLS knows only `alert` and `answer`.
    public enum HandshakeFault: Sendable, Hashable {
        /// Nothing more after these, until the client closes or the server stops.
        case stall(after: Int)
        case reset(after: Int)
        case close(after: Int)
        /// A fatal alert in place of the server's hello; 40 is handshake_failure, 112 unrecognized_name.
        case alert(UInt8)
        /// These bytes in place of the server's hello, then end of stream.
        case answer(Bytes)
        /// All of it, in pieces of this size, each in a segment of its own.
        case drip(size: Int = 1, every: Duration = .zero)
    }
}
