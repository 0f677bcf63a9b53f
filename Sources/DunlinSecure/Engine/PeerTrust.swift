public import DunlinTypes

/// Decides about one peer's certificate. The engine asks inside OpenSSL's verification, once in each full handshake, on
/// the thread that drives the engine; a resumed handshake shows no certificate.
public protocol PeerTrust: Sendable {
    /// A digest of everything a decision depends on: a session is resumed only under the key it was made with.
    var key: Certificate.Fingerprint { get }

    /// Decides on a chain; `presented` is what the server sent: its certificate, and those that should lead to a root.
    func decide(on presented: borrowing PresentedChain) -> HTTP.TrustDecision

    /// Whether a path that was accepted when a session was created still is, although some of its certificates are not
    /// valid at `now`, in Unix time.
    func stillAccepts(_ path: [Certificate], at now: Int64) -> Bool
}

/// A server's certificates and staple, valid only during the decision.
public struct PresentedChain: ~Copyable {
    /// The server's certificate, an OpenSSL `X509 *`.
    public let leaf: OpaquePointer
    /// All certificates sent, the leaf first: a `STACK_OF(X509) *`, or nil.
    public let chain: OpaquePointer?
    /// The OCSP response that came along, if it was asked for and sent.
    public let staple: Bytes?

    init(leaf: OpaquePointer, chain: OpaquePointer?, staple: Bytes?) {
        self.leaf = leaf
        self.chain = chain
        self.staple = staple
    }
}
