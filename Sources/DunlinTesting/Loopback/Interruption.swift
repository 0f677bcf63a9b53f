internal import DunlinReactor

extension LoopbackServer {
    /// Why a connection ended before its script did.
    enum Interruption: Error {
        case stopped
        case peerGone
        case failed(Errno)
        /// The client sent something that HTTP/1.1 does not allow.
        case malformed(String)
        /// The client left in the middle of a request, or sent other bytes than the script expects.
        case truncated(String)
        /// TLS failed, or the client ended it.
        case insecure(String)
    }
}
