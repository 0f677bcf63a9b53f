internal import DunlinReactor

extension LoopbackServer {
    /// Why a connection's conversation ended before its script did.
    enum Interruption: Error {
        case stopped
        case peerGone
        case failed(Errno)
        /// The client said something HTTP/1.1 does not allow.
        case malformed(String)
        /// The client left in the middle of a request.
        case truncated(String)
        /// TLS broke, or the client broke it off.
        case insecure(String)
    }
}
