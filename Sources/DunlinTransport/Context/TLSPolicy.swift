public import DunlinSecure
public import DunlinTypes

/// What one handshake has to know and to ask about: the session's business, seen from below. It is the same from the
/// handshake's beginning to its end, whatever the session is told meanwhile.
///
/// What is thrown is a `NetworkError`, or the user's own error.
public protocol TLSPolicy: AnyObject, Sendable {
    /// Grows with every change of who is believed or who we are. A connection is not lent to anybody once there is a
    /// later TLS generation than the one it was secured by.
    var tlsGeneration: UInt64 { get }

    /// How connections are secured. Made when the first is needed.
    func context() throws -> TLSContext

    /// Whom a connection to `origin` has to do with, and as whom we come.
    func peer(for origin: HTTP.Origin) throws -> TLSPeer

    /// The last word on a server, if `TLSPeer.asksAboutTrust`. Runs off the loop, and may take its time.
    func lastWord(on decision: TrustDecision, about origin: HTTP.Origin) async throws -> TrustDecision

    /// Who we are to a server that asks, if `TLSPeer.asksForIdentity`; nil to go on as nobody.
    func identity(for origin: HTTP.Origin, acceptableIssuers: [String]) async throws -> ClientIdentity?
}
