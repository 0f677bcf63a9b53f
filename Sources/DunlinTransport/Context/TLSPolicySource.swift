/// A source of TLS policies for handshakes: a session's, which may change, or one request's own.
public protocol TLSPolicySource: AnyObject, Sendable {
    /// Returns the policy for a handshake that begins now.
    func tlsPolicy() -> any TLSPolicy
}
