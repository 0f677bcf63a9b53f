extension HTTP {
    /// One step of an exchange as it is on the wire.
    public enum WireStep: Sendable {
        /// The exchange got a connection with this number, new or already open.
        case connected(UInt64, to: HTTP.SocketAddress?, HTTP.ConnectionSecurity?, isReused: Bool)
        /// The head as it is sent, including the fields that Dunlin adds.
        case requestHead(RequestHead)
        /// The request is sent; the kernel took this many bytes of it, including head and framing.
        case requestSent(bytes: Int)
        /// An interim (1xx) head came, such as 103 Early Hints.
        case interimHead(ResponseHead)
        /// The final head came.
        case responseHead(ResponseHead)
        /// The response is complete; its body had this many bytes, with framing removed and content codings on.
        case responseEnd(bodyBytes: Int, trailers: Fields)
        /// The rest of the body is discarded and the connection closed, after this many body bytes had come.
        case responseLeft(bodyBytes: Int)
        /// Bytes that are sent, as in the connection's stream before TLS: the first of them, and their number. A body
        /// that does not fit one write with its head is not included; after a 101 each write is. A session's trace has
        /// only the bytes of bodies, here and in `received`, unless it was asked to show secrets.
        case sent(Bytes, count: Int)
        /// Bytes that came. Those of a long body that is received into its final place are not included.
        case received(Bytes, count: Int)
        /// The exchange failed.
        case failed(any Error)
    }
}
