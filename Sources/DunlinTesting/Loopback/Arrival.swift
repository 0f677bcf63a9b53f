extension LoopbackServer {
    /// What happens to a connection before it can say anything.
    public enum Arrival: Sendable, Hashable {
        case accept
        /// Accepted, then closed.
        case closeAtOnce
        /// Accepted, then reset. A Unix socket knows no reset and is closed.
        case resetAtOnce
        /// Accepted and left alone, until the peer closes or the server stops: nothing is ever read.
        case stallBeforeReading
        /// Accepted; the TLS handshake goes wrong, or something comes in its place.
        case handshake(HandshakeFault)
        /// Neither this connection nor a later one is accepted: the kernel completes them as long as the backlog has
        /// room, and nobody is there.
        case neverAccept
    }
}
