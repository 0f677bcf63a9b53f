extension HTTPSession {
    /// How far a batch has come. Never less than it was told before.
    public struct BatchProgress: Sendable, Hashable {
        /// Requests that are over, well or with an error.
        public private(set) var finished = 0
        /// Those of them that ended with an error.
        public private(set) var failed = 0
        public let total: Int
        /// Bytes of the requests' bodies as they travel, codings on and framing off, since the batch began.
        public private(set) var sentBytes = 0
        /// The same of the responses' bodies.
        public private(set) var receivedBytes = 0

        init(total: Int) {
            self.total = total
        }

        /// All requests are over: no value follows this one.
        public var isFinal: Bool { finished == total }

        /// Of the requests, from 0 to 1; all of nothing is 1.
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
