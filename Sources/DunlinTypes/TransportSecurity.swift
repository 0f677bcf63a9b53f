/// What a connection under TLS agreed on with its server.
public struct TransportSecurity: Sendable, Hashable {
    /// Such as "TLS 1.3".
    public var version: String
    /// The suite's name in the standard.
    public var cipher: String
    /// What ALPN chose; nil if the server chose nothing.
    public var applicationProtocol: String?
    /// The server remembered an earlier handshake, so this one was short.
    public var isResumed: Bool
    /// What made the server believed: its own certificate first. Of a resumed session, what did so then.
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
