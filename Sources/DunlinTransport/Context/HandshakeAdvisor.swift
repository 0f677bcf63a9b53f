/// Where handshakes get their advice: a session's, which may change, or one request's own.
public protocol HandshakeAdvisor: AnyObject, Sendable {
    /// What a handshake that begins now goes by.
    func advice() -> any HandshakeAdvice
}
