/// What decides beside the core whether an exchange with a server may take place, and when: its limits of rate and its
/// circuit breaker. A session asks it once for each hop that no cache answers, and again when the hop is sent again.
package protocol Gate: Sendable {
    /// What is wrong with its settings, and what to write; nil if nothing.
    var problem: String? { get }

    /// Returns when the exchange may take place. Throws if it may not.
    func pass(_ visit: some GateVisit) async throws -> GatePass

    /// Notes what came of an exchange that had passed: its head, and how long the server took for it, in nanoseconds;
    /// or its error.
    func ended(_ pass: GatePass, _ visit: some GateVisit, _ outcome: Result<(ResponseHead, Int64), any Error>)
}

/// What a gate knows an exchange by that has passed.
package struct GatePass: Sendable {
    package let key: String
    package let number: UInt64

    package init(key: String, number: UInt64) {
        (self.key, self.number) = (key, number)
    }
}

/// An exchange that is about to take place, as a gate sees it.
package protocol GateVisit: Sendable {
    var head: RequestHead { get }
    var priority: HTTP.Priority { get }
    /// The end of the whole request.
    var deadline: HTTP.Instant { get }
    func now() -> HTTP.Instant
    func chance() -> UInt64

    /// Waits until a time. Throws if the request ends before.
    func wait(until time: HTTP.Instant) async throws
    var isSuspended: Bool { get }
    /// Waits until the request is resumed.
    func resumed() async throws
    /// Takes a retry from the budget of the origin. Returns false if there is none.
    func takeRetry() -> Bool
}
