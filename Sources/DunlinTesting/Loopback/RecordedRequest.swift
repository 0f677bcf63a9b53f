public import DunlinTypes

extension LoopbackServer {
    /// What a client sent, as the server read it.
    public struct RecordedRequest: Sendable {
        public let method: HTTP.Method
        /// As it stood in the request line.
        public let target: String
        public let version: HTTP.Version
        public let fields: Fields
        /// The request line and fields as they came, with the empty line.
        public let head: Bytes
        /// Which connection of the server, counted from 0 in order of acceptance.
        public let connection: Int
        /// Which request on its connection, counted from 0.
        public let indexOnConnection: Int

        /// What was agreed on when the connection was opened; nil without TLS.
        public let handshake: Handshake?

        /// Empty when it was longer than `Configuration.keptBodyLimit`, or is not read yet because the reply began
        /// before it.
        public internal(set) var body = Bytes.empty
        /// How long the body was, kept or not.
        public internal(set) var bodyCount = 0
        public internal(set) var trailers = Fields()
        /// False while the body is not at its end, and for good when the client gave up.
        public internal(set) var isComplete = false
        /// Whether the server answered `Expect: 100-continue`.
        public internal(set) var wasContinued = false
        /// Of a body that was not kept.
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
