extension LoopbackServer {
    /// What has happened so far, in numbers.
    public struct Activity: Sendable, Hashable {
        /// The number of connections accepted.
        public internal(set) var accepted = 0
        /// The number of connections open now.
        public internal(set) var open = 0
        /// The number of successful TLS handshakes, and of those that resumed a session.
        public internal(set) var handshakes = 0
        public internal(set) var resumptions = 0
        /// The number of TLS connections that the client ended properly, with a close_notify. It is noticed only by
        /// reading, so not while a reply stalls.
        public internal(set) var goodbyes = 0
        /// The number of requests whose head was read, and the body too unless the reply came before it.
        public internal(set) var requests = 0
        /// The number of bytes that the kernel took from the server.
        public internal(set) var bytesSent = 0
        /// How often a send found the kernel's buffer full because of a reader that is slow or does not read.
        public internal(set) var blockedSends = 0
        public internal(set) var failures = 0
    }
}
