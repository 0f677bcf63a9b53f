extension LoopbackServer {
    /// What has happened so far, in numbers.
    public struct Activity: Sendable, Hashable {
        /// Connections ever accepted.
        public internal(set) var accepted = 0
        /// Connections open now.
        public internal(set) var open = 0
        /// TLS handshakes that succeeded, and how many of them resumed a session.
        public internal(set) var handshakes = 0
        public internal(set) var resumptions = 0
        /// TLS connections that the client ended as it should, with a close_notify. It is seen by who reads: not while
        /// a reply stalls.
        public internal(set) var goodbyes = 0
        /// Requests whose head was read, and the body too unless the reply came before it.
        public internal(set) var requests = 0
        /// Bytes the kernel took from the server.
        public internal(set) var bytesSent = 0
        /// How often a send found the kernel's buffer full: a reader that is too slow, or does not read.
        public internal(set) var blockedSends = 0
        public internal(set) var failures = 0
    }
}
