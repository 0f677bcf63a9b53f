public import DunlinTypes

/// Whom one engine talks to, and as whom.
public struct TLSPeer: Sendable {
    /// The name to ask for (RFC 6066 §3): an A-label without a trailing dot; nil for an address.
    public var serverName: String?
    /// What sessions are remembered for: scheme, host and port, and the way there.
    public var origin: HTTP.Origin
    public var trust: any PeerTrust
    /// Who we are, if the server asks.
    public var identity: ClientIdentity?
    /// Suspends the handshake with `trust` when the rules have come to a decision, until somebody has the last word. A
    /// resumed session is asked about as well, with the path it was made with.
    public var asksAboutTrust = false
    /// Suspends the handshake with `clientCertificate` when the server asks for one and `identity` is nil.
    public var asksForIdentity = false
    /// Whether an earlier session may be taken up, and this one be kept for later.
    public var resumes = true

    public init(_ origin: HTTP.Origin, serverName: String?, trust: any PeerTrust) {
        self.origin = origin
        self.serverName = serverName
        self.trust = trust
    }
}
