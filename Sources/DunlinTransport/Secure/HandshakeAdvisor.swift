public import DunlinSecure
public import DunlinTypes

/// What a handshake has to know and to ask about: the session's business, seen from below.
///
/// What is thrown is a `NetworkError`, or the user's own error.
public protocol HandshakeAdvisor: AnyObject, Sendable {
    /// How connections are secured. Made when the first is needed.
    func context() throws -> TLSContext

    /// Whom a connection to `origin` has to do with, and as whom we come.
    func peer(for origin: Origin) throws -> TLSPeer

    /// The last word on a server, if `TLSPeer.asksAboutTrust`. Runs off the loop, and may take its time.
    func lastWord(on decision: TrustDecision, about origin: Origin) async throws -> TrustDecision

    /// Who we are to a server that asks, if `TLSPeer.asksForIdentity`; nil to go on as nobody.
    func identity(for origin: Origin, acceptableIssuers: [String]) async throws -> ClientIdentity?

    /// A connection that was agreed on with this advice is for nobody else.
    var isForOneRequest: Bool { get }
}
