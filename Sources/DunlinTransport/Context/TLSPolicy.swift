public import DunlinSecure
public import DunlinTypes

/// What one handshake must know and ask. The session implements it. It stays the same during a handshake, whatever
/// changes in the session meanwhile.
///
/// Its functions throw `NetworkError`, or the user's own error.
public protocol TLSPolicy: AnyObject, Sendable {
    /// The generation, which grows with every change of trust or of our identity. A connection of an earlier generation
    /// than the latest is not leased.
    var tlsGeneration: UInt64 { get }

    /// Whether `context` and `peer` need read no files. If not, they are called off the loop, on which others wait.
    var isAtHand: Bool { get }

    /// Returns the settings for securing connections, created on first use.
    func context() throws -> TLSContext

    /// Returns the server that a connection to `origin` must reach, and the identity to present.
    func peer(for origin: HTTP.Origin) throws -> TLSPeer

    /// Returns the final decision about a server, if `TLSPeer.asksAboutTrust`. It runs off the loop, and may take long.
    func finalDecision(on decision: HTTP.TrustDecision, about origin: HTTP.Origin) async throws -> HTTP.TrustDecision

    /// Returns our identity for a server that asks, if `TLSPeer.asksForIdentity`; nil to continue without one.
    func identity(for origin: HTTP.Origin, acceptableIssuers: [String]) async throws -> ClientIdentity?
}
