extension LoopbackServer {
    /// The address a server listens on. The kernel chooses ports, and names if none is given.
    public enum Endpoint: Sendable, Hashable {
        /// 127.0.0.1
        case ipv4
        /// ::1
        case ipv6
        /// A Unix socket at this path, unlinked by `stop()`; a leading NUL means an abstract name.
        case unix(String)
        /// A Unix socket with an abstract name of the kernel's choice.
        case abstract
    }
}
