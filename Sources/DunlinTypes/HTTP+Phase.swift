extension HTTP {
    /// The stretches of a request's life: one vocabulary for timeouts, errors and metrics.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Waiting for a free connection.
        case pool
        /// Turning the host name into addresses.
        case resolve
        /// Opening the socket.
        case connect
        /// The TLS handshake.
        case tls
        /// Writing the request, body included.
        case send
        /// From the request's last byte to the response's first.
        case firstByte
        /// Between two pieces of the response.
        case receive
        /// All of it: the body, later retries and redirects included.
        case total
    }
}
