extension LoopbackServer {
    /// The error if something that a test waited for did not happen in time.
    public struct WaitTimedOut: Error, CustomStringConvertible {
        public let what: String
        public let limit: Duration

        public var description: String { "timed out after \(limit) waiting for \(what)" }
    }
}
