internal import DunlinTransport

extension HTTPSession {
    /// The current TLS settings: as configured, or as last replaced.
    public var tls: TLS { core.tlsPolicySource.tls }

    /// Secures new connections by other settings: another policy, other roots or pins, another identity.
    ///
    /// Running requests keep their connections. Every later request uses connections secured by `tls`. Idle connections
    /// from before are closed at once, those in use when their requests end, and no earlier TLS session is resumed.
    /// Connections in clear text stay; if the new policy has pins, they are not used, and requests that were made
    /// before and not sent yet are refused with `clearTextRefused`.
    ///
    /// Throws what creating a session with `tls` would throw, and then changes nothing.
    public func replace(tls: TLS) throws {
        let tlsGeneration = try core.tlsPolicySource.replace(tls)
        tasks.chain.callTransport.sockets?.retire(before: tlsGeneration)
    }

    /// Reads all files of `tls` again: roots (including the system's), revocation lists, the identity. Existing
    /// connections are closed as in `replace(tls:)`.
    ///
    /// An identity's files are checked with each new connection anyway; this also replaces open connections.
    public func reloadTLS() throws {
        try replace(tls: tls)
    }
}
