internal import DunlinTransport

extension HTTPSession {
    /// How connections are secured now: as configured, or as last replaced.
    public var tls: TLS { core.tlsPolicySource.tls }

    /// Secures connections by other settings from now on: another policy, other roots or pins, another identity.
    ///
    /// Requests that run keep the connections they have. Every later request uses connections secured by `tls`. Idle
    /// connections from before are closed at once, those in use when their requests end, and no earlier TLS session is
    /// resumed. Connections in clear text stay; if the new policy pins, they are not used.
    ///
    /// Throws what making a session with `tls` would throw; then nothing has changed.
    public func replaceTLS(_ tls: TLS) throws {
        let tlsGeneration = try core.tlsPolicySource.replace(tls)
        tasks.chain.callTransport.sockets?.retire(before: tlsGeneration)
    }

    /// Reads all files again that `tls` names: roots, the system's too, revocation lists, the identity. Connections
    /// made with them before are closed as in `replaceTLS`.
    ///
    /// An identity's files are checked with each new connection anyway; this replaces the connections that are open,
    /// too.
    public func reloadTLS() throws {
        try replaceTLS(tls)
    }
}
