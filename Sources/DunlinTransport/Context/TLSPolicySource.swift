/// Gives handshakes their TLS policy: a session's, which may change, or one request's own.
public protocol TLSPolicySource: AnyObject, Sendable {
    /// The policy of a handshake that begins now.
    func tlsPolicy() -> any TLSPolicy
}
