extension HTTP {
    /// One step of an exchange as it is on the wire.
    public enum WireStep: Sendable {
        /// The exchange has a connection, with this number: a new one, or one that was open already.
        case connected(UInt64, to: HTTP.SocketAddress?, HTTP.ConnectionSecurity?, isReused: Bool)
        /// The head as it is sent, with the fields that every request has beside its own.
        case requestHead(RequestHead)
        /// Nothing more is sent: the kernel took so many bytes of the request, head and framing included.
        case requestSent(bytes: Int)
        /// An interim (1xx) head came, such as 103 Early Hints.
        case interimHead(ResponseHead)
        /// The final head came.
        case responseHead(ResponseHead)
        /// Nothing more comes: the body had so many bytes as they came, framing off and content codings on.
        case responseEnd(bodyBytes: Int, trailers: Fields)
        /// The rest of the body is left, and the connection closed, after so many of its bytes had come.
        case responseLeft(bodyBytes: Int)
        /// Bytes that are sent, as they are in the connection's stream before TLS: the beginning, and how many there
        /// are. A body that does not fit one write with its head is not among them. In a session's trace asterisks
        /// stand for secrets of heads, here and in what comes, unless it was asked to show them.
        case sent(Bytes, count: Int)
        /// Bytes that came. Those of a long body that is received into its final place are not among them.
        case received(Bytes, count: Int)
        /// The exchange failed.
        case failed(any Error)
    }
}
