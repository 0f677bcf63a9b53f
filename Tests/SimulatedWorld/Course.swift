/// What a request came to. Times are in nanoseconds.
package struct Course: Sendable, Equatable {
    package enum End: Sendable, Equatable {
        case succeeded
        /// With what came of its last attempt.
        case failed
        case refusedByBreaker
        case refusedAtLimit
        /// Its total limit was over.
        case outOfTime
    }

    package let began: Int64
    /// When each attempt was sent.
    package var sent: [Int64] = []
    package var ended: Int64?
    package var end: End?

    package init(began: Int64) { self.began = began }
}

/// A request that is made at a certain time.
package struct Arrival: Sendable {
    package let client: Int
    package let time: Int64

    package init(client: Int, time: Int64) { (self.client, self.time) = (client, time) }
}
