public import DunlinTypes

extension LoopbackServer {
    /// A server's TLS settings: its certificates, versions and ciphers, and what it asks of clients.
    ///
    /// ```swift
    /// let authority = try CertificateAuthority()
    /// let server = try LoopbackServer(tls: .init(authority.issue(.server("127.0.0.1"))))
    /// ```
    ///
    /// The server's own rules are as weak as OpenSSL allows, so that only the client refuses weak keys and old
    /// versions. Tickets resume sessions on any connection with the same value or a copy of it; a newly created value
    /// knows no tickets of others.
    public struct TLS: Sendable {
        public enum Version: Sendable, Hashable, Comparable {
            case v1_0, v1_1, v1_2, v1_3
        }

        /// Whether clients are asked for a certificate.
        public enum ClientCertificate: Sendable, Hashable {
            case ignored
            /// Clients are asked; one without a certificate is accepted, too.
            case requested
            /// A client without a certificate is refused.
            case required
        }

        /// The certificate chain and key.
        public var identity: IssuedCertificate
        /// Other identities, for clients that request these names by SNI. Names are compared exactly, in lower case.
        public var identities: [String: IssuedCertificate] = [:]
        public var versions = Version.v1_2...Version.v1_3
        /// The ciphers before TLS 1.3, by OpenSSL's names with colons between them; nil for its default.
        public var ciphersBefore1_3: String?
        public var ciphers: String?
        public var groups: String?
        /// The protocols for ALPN, best first. If empty, the server does not support ALPN; otherwise a client that
        /// offers none of them is refused.
        public var protocols: [String] = []
        /// The number of tickets that a TLS 1.3 client gets after a handshake; 0 also turns them off for TLS 1.2.
        public var tickets = 2
        /// An OCSP response for clients that ask for one.
        public var staple: Bytes?
        public var clientCertificate = ClientCertificate.ignored
        /// The authorities that may have issued a client's certificate, as DER; the client is told. Empty for anybody,
        /// even the client itself.
        public var clientAuthorities: [Bytes] = []
        /// The keys that tickets are encrypted with.
        let ticketKeys: [UInt8]

        public init(_ identity: IssuedCertificate) {
            self.identity = identity
            var random = SystemRandomNumberGenerator()
            ticketKeys = (0..<80).map { _ in random.next() }
        }
    }

    /// What client and server agreed on in a handshake.
    public struct Handshake: Sendable, Hashable {
        public let version: TLS.Version
        /// The cipher's name in OpenSSL.
        public let cipher: String
        /// The name that the client requested by SNI.
        public let serverName: String?
        /// The protocol chosen by ALPN.
        public let negotiatedProtocol: String?
        public let wasResumed: Bool
        /// The client's own certificate, as DER.
        public let clientCertificate: Bytes?
        /// The index of the connection, from 0 in order of acceptance.
        public let connection: Int
    }

    /// Something that goes wrong before there is a TLS connection. Bytes are counted in what the server sends in the
    /// handshake; a number beyond that has no effect. A server without TLS supports only `alert` and `answer`.
    public enum HandshakeFault: Sendable, Hashable {
        /// Nothing more after these bytes, until the client closes or the server stops.
        case stall(after: Int)
        case reset(after: Int)
        case close(after: Int)
        /// A fatal alert instead of the server's hello; 40 is handshake_failure, 112 unrecognized_name.
        case alert(UInt8)
        /// These bytes instead of the server's hello, then end of stream.
        case answer(Bytes)
        /// The whole handshake in pieces of this size, each in its own segment.
        case drip(size: Int = 1, every: Duration = .zero)
    }
}
