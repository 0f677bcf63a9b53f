/// Where handshakes get their TLS policy: a session's, which may change, or one request's own.
public protocol TLSPolicySource: AnyObject, Sendable {
    /// What a handshake that begins now goes by.
    func tlsPolicy() -> any TLSPolicy
}
