extension HTTP {
    /// Where a hop is: one list for timeouts, errors and metrics. What limits a phase, or the whole, is a
    /// `Timeouts.Limit`.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Waiting for a free connection.
        case pool
        /// Looking up the addresses of the host's name.
        case resolve
        /// Opening the socket.
        case connect
        /// The TLS handshake with a proxy, before it is told where to.
        case proxyTLS
        /// Having a proxy make a tunnel to the origin, by CONNECT or SOCKS.
        case tunnel
        /// The TLS handshake with the origin.
        case tls
        /// Writing the request, body included.
        case send
        /// From the request's last byte to the response's first.
        case firstByte
        /// From the response's head to the end of its body.
        case receive
    }
}
