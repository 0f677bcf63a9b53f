extension HTTP {
    /// What a connection and its server agreed on in the TLS handshake.
    public struct ConnectionSecurity: Sendable, Hashable {
        /// The TLS version, such as "TLS 1.3".
        public var version: String
        /// The cipher suite's name in the standard.
        public var cipher: String
        /// The protocol that ALPN chose; nil if the server chose none.
        public var applicationProtocol: String?
        /// Whether an earlier TLS session was resumed, which shortens the handshake.
        public var isResumed: Bool
        /// The path by which the server is trusted, its own certificate first. For a resumed session, it is the path of
        /// the first handshake.
        public var verifiedPath: [Certificate]

        public init(
            version: String, cipher: String, applicationProtocol: String? = nil, isResumed: Bool = false,
            verifiedPath: [Certificate] = []
        ) {
            self.version = version
            self.cipher = cipher
            self.applicationProtocol = applicationProtocol
            self.isResumed = isResumed
            self.verifiedPath = verifiedPath
        }
    }
}
