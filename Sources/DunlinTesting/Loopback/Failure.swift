extension LoopbackServer {
    /// Something a client did that HTTP/1.1 does not allow, or that kept the server from doing its part.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        public enum Kind: Sendable, Hashable {
            /// Against the grammar or the framing rules; answered with 400 and a close.
            case malformed
            /// The client went away in the middle of a request.
            case truncated
            /// The TLS handshake did not succeed, or the connection broke afterwards; an alert of the client's is
            /// told by its name.
            case tls
            /// A system call of the server failed.
            case system
        }

        /// Counted from 0 in order of acceptance; nil when it concerns none.
        public let connection: Int?
        public let kind: Kind
        public let detail: String

        public var description: String {
            "\(kind) on \(connection.map { "connection \($0)" } ?? "no connection"): \(detail)"
        }
    }
}
