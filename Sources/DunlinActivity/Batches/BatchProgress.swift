extension HTTPSession {
    /// The progress of a batch. It never goes down.
    public struct BatchProgress: Sendable, Hashable {
        /// The number of requests that are over, with or without an error.
        public private(set) var finished = 0
        /// The number of requests that ended with an error.
        public private(set) var failed = 0
        public let total: Int
        /// The number of body bytes sent since the batch began, with codings on and framing removed.
        public private(set) var sentBytes = 0
        /// The number of body bytes received, counted in the same way.
        public private(set) var receivedBytes = 0

        init(total: Int) {
            self.total = total
        }

        /// Whether all requests are over; no other value follows.
        public var isFinal: Bool { finished == total }

        /// The fraction of requests that are over, from 0 to 1; 1 for an empty batch.
        public var fraction: Double { total == 0 ? 1 : Double(finished) / Double(total) }

        mutating func ended(well isWell: Bool) {
            finished += 1
            if !isWell { failed += 1 }
        }

        mutating func moved(sent: Int, received: Int) {
            sentBytes += sent
            receivedBytes += received
        }
    }
}
