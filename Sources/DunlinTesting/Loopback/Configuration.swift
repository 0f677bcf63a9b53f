extension LoopbackServer {
    /// Settings for every connection of a server.
    public struct Configuration: Sendable {
        /// The length up to which request bodies are kept. Longer ones are read, counted and hashed.
        public var keptBodyLimit = 64 << 20
        /// The length up to which a request head is valid.
        public var headLimit = 1 << 20
        /// Whether `Expect: 100-continue` is answered before the body is read.
        public var answersExpectations = true
        /// Whether requests are added to `requests`. Without this, for long runs, the server still counts them.
        public var recordsRequests = true
        /// The number of connections that the kernel completes before they are accepted.
        public var backlog: Int32 = 128
        /// Whether connections are completed. If not, a connect hangs as if packets were lost: the server fills its own
        /// backlog and never accepts.
        public var completesConnections = true
        /// The kernel's buffer for each connection, in bytes; nil for the kernel's default. Small ones make
        /// back-pressure visible early. The kernel doubles the value and has a minimum.
        public var sendBuffer: Int?
        public var receiveBuffer: Int?

        public init() {}
    }
}
