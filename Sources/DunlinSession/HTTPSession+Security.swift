internal import DunlinTransport

extension HTTPSession {
    /// How connections are secured now: as configured, or as last replaced.
    public var tls: TLS { core.tlsPolicySource.tls }

    /// Secures connections in another way from now on: another policy, other roots or pins, another identity.
    ///
    /// Requests that run end on the connections they have. Every request made after this uses connections secured by
    /// `tls`: idle ones from before are closed at once, those in use when their requests end, and nothing that servers
    /// gave us to resume by is used again. Connections in clear text stay; if the new policy pins, they are not used.
    ///
    /// Throws what making a session with `tls` would throw, and then nothing has changed.
    public func replaceTLS(_ tls: TLS) throws {
        let tlsGeneration = try core.tlsPolicySource.replace(tls)
        tasks.chain.callTransport.sockets?.retire(before: tlsGeneration)
    }

    /// Reads all files again that `tls` names: roots, the system's too, revocation lists, the identity. What was made
    /// with them before is let go as in `replaceTLS`.
    ///
    /// An identity's files are looked at with each new connection anyway; this makes sure of those that are open.
    public func reloadTLS() throws {
        try replaceTLS(tls)
    }
}
