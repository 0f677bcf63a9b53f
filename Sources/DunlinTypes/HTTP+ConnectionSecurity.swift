extension HTTP {
    /// What a connection under TLS agreed on with its server.
    public struct ConnectionSecurity: Sendable, Hashable {
        /// The version, such as "TLS 1.3".
        public var version: String
        /// The suite's name in the standard.
        public var cipher: String
        /// The protocol that ALPN chose; nil if the server chose none.
        public var applicationProtocol: String?
        /// Whether an earlier TLS session was resumed, so that the handshake was short.
        public var isResumed: Bool
        /// The path by which the server is trusted: its own certificate first. For a resumed session, the path of the
        /// first handshake.
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
