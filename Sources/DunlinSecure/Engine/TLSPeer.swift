public import DunlinTypes

/// The peer of an engine, and the identity to show it.
public struct TLSPeer: Sendable {
    /// The name to request (RFC 6066 §3): an A-label without a trailing dot; nil for an address.
    public var serverName: String?
    /// The origin that sessions are remembered for: scheme, host and port, and the route.
    public var origin: HTTP.Origin
    public var trust: any PeerTrust
    /// The identity to show if the server asks.
    public var identity: ClientIdentity?
    /// Whether to suspend the handshake with `trust` after the rules' decision, until somebody confirms or overrules
    /// it. A resumed session is asked about too, with its original path.
    public var asksAboutTrust = false
    /// Whether to suspend the handshake with `clientCertificate` when the server asks for one and `identity` is nil.
    public var asksForIdentity = false
    /// Whether an earlier session may be resumed, and this one kept.
    public var resumes = true

    public init(_ origin: HTTP.Origin, serverName: String?, trust: any PeerTrust) {
        self.origin = origin
        self.serverName = serverName
        self.trust = trust
    }
}
