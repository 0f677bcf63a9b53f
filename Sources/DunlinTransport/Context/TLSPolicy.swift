public import DunlinSecure
public import DunlinTypes

/// What one handshake has to know and to ask: the session implements it. It is the same from the beginning of a
/// handshake to its end, whatever changes in the session meanwhile.
///
/// Its functions throw `NetworkError`, or the user's own error.
public protocol TLSPolicy: AnyObject, Sendable {
    /// Grows with every change of who is trusted or of our identity. A connection is not leased once there is a later
    /// TLS generation than the one it was secured by.
    var tlsGeneration: UInt64 { get }

    /// Whether the next two need read no files. They are asked off the loop if not: others wait there.
    var isAtHand: Bool { get }

    /// The settings by which connections are secured. Made when the first is needed.
    func context() throws -> TLSContext

    /// Which server a connection to `origin` must reach, and which identity we show.
    func peer(for origin: HTTP.Origin) throws -> TLSPeer

    /// The final decision about a server, if `TLSPeer.asksAboutTrust`. Runs off the loop, and may take long.
    func lastWord(on decision: HTTP.TrustDecision, about origin: HTTP.Origin) async throws -> HTTP.TrustDecision

    /// Our identity for a server that asks, if `TLSPeer.asksForIdentity`; nil to go on without one.
    func identity(for origin: HTTP.Origin, acceptableIssuers: [String]) async throws -> ClientIdentity?
}
