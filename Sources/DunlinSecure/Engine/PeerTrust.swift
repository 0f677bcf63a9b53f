public import DunlinTypes

/// Whoever decides about one peer's certificate. The engine asks inside OpenSSL's verification, once in each full
/// handshake, on the thread that drives the engine; a resumed handshake shows no certificate.
public protocol PeerTrust: Sendable {
    /// A digest of everything a decision depends on: a session is resumed only under the key it was made with.
    var key: Certificate.Fingerprint { get }

    /// `presented` is what the server sent: its own certificate and those that should lead from it to a root.
    func decide(on presented: borrowing PresentedChain) -> HTTP.TrustDecision

    /// Whether a path that was accepted when a session was made still is, although not all of its certificates are
    /// valid at `now`, in Unix time.
    func stillAccepts(_ path: [Certificate], at now: Int64) -> Bool
}

/// What a server presented, valid only while it is being decided on.
public struct PresentedChain: ~Copyable {
    /// The server's certificate, an OpenSSL `X509 *`.
    public let leaf: OpaquePointer
    /// All that was sent, the leaf first: a `STACK_OF(X509) *`, or nil.
    public let chain: OpaquePointer?
    /// The OCSP response that came with it, if it was asked for and sent.
    public let staple: Bytes?

    init(leaf: OpaquePointer, chain: OpaquePointer?, staple: Bytes?) {
        self.leaf = leaf
        self.chain = chain
        self.staple = staple
    }
}
