extension HTTP {
    /// The phase that a hop is in. Timeouts, errors and metrics all use these phases; `Timeouts.Limit` names what
    /// limits each of them and the whole request.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Waiting for a free connection.
        case pool
        /// Looking up the addresses of the host's name.
        case resolve
        /// Opening the socket.
        case connect
        /// The TLS handshake with a proxy, before it is told where to connect.
        case proxyTLS
        /// Waiting for a proxy to make a tunnel to the origin, by CONNECT or SOCKS.
        case tunnel
        /// The TLS handshake with the origin.
        case tls
        /// Writing the request, including its body.
        case send
        /// Waiting, from the request's last byte to the response's first.
        case firstByte
        /// Receiving, from the response's head to the end of its body.
        case receive
    }
}
