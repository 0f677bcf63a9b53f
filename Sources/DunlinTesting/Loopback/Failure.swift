extension LoopbackServer {
    /// Something that a client did against HTTP/1.1, or that kept the server from doing its part.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        public enum Kind: Sendable, Hashable {
            /// The request breaks the grammar or the framing rules; it is answered with 400 and a close.
            case malformed
            /// The client left in the middle of a request, or sent other bytes than the script expects.
            case truncated
            /// The TLS handshake failed, or the connection broke afterwards; an alert from the client is named.
            case tls
            /// A system call of the server failed.
            case system
        }

        /// The index of the connection, from 0 in order of acceptance; nil if none is concerned.
        public let connection: Int?
        public let kind: Kind
        public let detail: String

        public var description: String {
            let what = kind == .truncated ? "the script stopped" : "\(kind)"
            return "\(what) on \(connection.map { "connection \($0)" } ?? "no connection"): \(detail)"
        }
    }
}
