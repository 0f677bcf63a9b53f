extension HTTPSession {
    /// A stream of server-sent events that is about to be requested again, or a WebSocket that is about to be opened
    /// again.
    public struct Reconnection: Sendable, Hashable {
        /// The number of the attempt that follows; the second is 2.
        public let attempt: Int
        /// The wait before it.
        public let wait: Duration
        /// The ID after which the stream is requested; nil for none.
        public let lastEventID: String?
        /// How the last attempt ended; nil if its stream came to its end.
        public let cause: NetworkError.RetriedAttempt.Cause?
        /// Whether the server will send again what was delivered, by `EventSettings.beginsAnew`.
        public let beginsAnew: Bool
        /// How many messages were sent over a WebSocket that was lost, and may not have arrived: those that were sent
        /// after the last ping that was answered. What the server has sent meanwhile is not known.
        public internal(set) var unconfirmed = 0

        package init(
            attempt: Int, wait: Duration, lastEventID: String?, cause: NetworkError.RetriedAttempt.Cause?,
            beginsAnew: Bool = false
        ) {
            (self.attempt, self.wait, self.lastEventID, self.cause) = (attempt, wait, lastEventID, cause)
            self.beginsAnew = beginsAnew
        }
    }
}

extension HTTPSession.Reconnection: CustomStringConvertible, CustomReflectable {
    /// A few words, without the ID, which is a server's text.
    public var description: String {
        "attempt \(attempt) in \(wait.readable)" + (cause.map { ": \($0)" } ?? "")
    }

    /// Shows nothing but the description.
    public var customMirror: Mirror { Mirror(self, children: ["reconnection": description]) }
}
