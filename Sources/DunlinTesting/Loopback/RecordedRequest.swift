public import DunlinTypes

extension LoopbackServer {
    /// A client's request as the server read it.
    public struct RecordedRequest: Sendable {
        public let method: HTTP.Method
        /// The target as in the request line.
        public let target: String
        public let version: HTTP.Version
        public let fields: Fields
        /// The request line and fields as received, with the empty line.
        public let head: Bytes
        /// The index of the connection, from 0 in order of acceptance.
        public let connection: Int
        /// The index of the request on its connection, from 0.
        public let indexOnConnection: Int

        /// The result of the connection's TLS handshake; nil without TLS.
        public let handshake: Handshake?

        /// The body; empty if it is longer than `Configuration.keptBodyLimit`, or not read yet because the reply began
        /// before it.
        public internal(set) var body = Bytes.empty
        /// The length of the body, kept or not.
        public internal(set) var bodyCount = 0
        public internal(set) var trailers = Fields()
        /// Whether the body was read to its end; stays false if the client gave up.
        public internal(set) var isComplete = false
        /// Whether the server answered `Expect: 100-continue`.
        public internal(set) var wasContinued = false
        /// The hash of a body that was not kept.
        var streamedHash: UInt64?

        /// The body's `BodyHash`, kept or not.
        public var bodyHash: UInt64 { streamedHash ?? BodyHash(body).value }

        init(_ head: RequestHead, connection: Int, index: Int, _ handshake: Handshake?) {
            method = head.method
            target = head.target
            version = head.version
            fields = head.fields
            self.head = head.raw
            self.connection = connection
            indexOnConnection = index
            self.handshake = handshake
        }
    }
}
