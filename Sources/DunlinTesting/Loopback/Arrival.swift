extension LoopbackServer {
    /// What happens to a connection before it can send anything.
    public enum Arrival: Sendable, Hashable {
        case accept
        /// The connection is accepted, then closed.
        case closeAtOnce
        /// The connection is accepted, then reset. A Unix socket cannot reset and is closed.
        case resetAtOnce
        /// The connection is accepted and never read, until the peer closes or the server stops.
        case stallBeforeReading
        /// The connection is accepted; the TLS handshake goes wrong, or something is sent instead.
        case handshake(HandshakeFault)
        /// Neither this nor any later connection is accepted: the kernel completes them while the backlog has room, but
        /// nobody answers.
        case neverAccept
    }
}
