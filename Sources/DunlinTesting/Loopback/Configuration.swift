extension LoopbackServer {
    /// What holds for every connection of a server.
    public struct Configuration: Sendable {
        /// Longer request bodies are read, counted and hashed, but not kept.
        public var keptBodyLimit = 64 << 20
        /// A request head longer than this is malformed.
        public var headLimit = 1 << 20
        /// Whether `Expect: 100-continue` is answered before the body is read.
        public var answersExpectations = true
        /// Whether `requests` grows. Turned off for long runs, the server still counts.
        public var recordsRequests = true
        /// How many connections the kernel completes before they are accepted.
        public var backlog: Int32 = 128
        /// False: a connect to the server does not complete, as if packets to it were lost. The server takes up its
        /// own backlog and never accepts.
        public var completesConnections = true
        /// Bytes of kernel buffer per connection; nil leaves it to the kernel. Small ones make back-pressure visible
        /// early. The kernel doubles what is asked and has a minimum.
        public var sendBuffer: Int?
        public var receiveBuffer: Int?

        public init() {}
    }
}
