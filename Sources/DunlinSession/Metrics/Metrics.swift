/// How a request spent its time: one `Attempt` for each hop or replay, the last one being the response's.
///
/// The usual single attempt is held in place, so that measuring allocates nothing.
public struct Metrics: Sendable, Hashable {
    /// Nil for none: even an empty array is counted by reference.
    private var earlier: [Attempt]?
    private var last: Attempt?

    public init() {}

    init(attempts: [Attempt]) {
        last = attempts.last
        earlier = attempts.count > 1 ? Array(attempts.dropLast()) : nil
    }

    init(earlier: [Attempt]?, last: Attempt) {
        self.earlier = earlier
        self.last = last
    }

    public var attempts: [Attempt] {
        guard let last else { return [] }
        return (earlier ?? []) + [last]
    }

    mutating func append(_ attempt: Attempt) {
        if let last { earlier = (earlier ?? []) + [last] }
        last = attempt
    }

    /// The same with a later state of the last attempt.
    func updating(_ attempt: Attempt) -> Metrics {
        Metrics(earlier: earlier, last: attempt)
    }

    /// The same for a request that waited in a queue for so many nanoseconds before it was sent.
    func after(waiting time: Int64) -> Metrics {
        var attempts = attempts
        guard time > 0, !attempts.isEmpty else { return self }
        attempts[0] = attempts[0].after(waiting: time)
        return Metrics(attempts: attempts)
    }

    /// From the start of the first attempt to the end of the last; zero while that is underway.
    public var total: Duration {
        guard let last else { return .zero }
        return max(.zero, last.ended.duration(since: (earlier?.first ?? last).started))
    }
}

extension Metrics: CustomStringConvertible {
    /// A waterfall, one attempt after the other.
    public var description: String {
        attempts.map(\.waterfall).joined(separator: "\n")
    }
}

extension Attempt {
    /// The same, begun with the wait of so many nanoseconds in a queue.
    func after(waiting time: Int64) -> Attempt {
        var attempt = self
        attempt.started = attempt.started.advanced(by: -time)
        attempt[.pool] += time
        return attempt
    }

    /// One line a phase that took place: name, duration, and a bar in proportion.
    public var waterfall: String {
        // An attempt that has no end yet has no total either.
        let total = max(0, self[.total])
        let phases = Phase.allCases.filter { $0 != .total && self[$0] > 0 }
        let whole = phases.reduce(max(1, total)) { max($0, self[$1]) }
        let peer = peer.map { " to \($0)" } ?? ""
        let heading = "\(isConnectionReused ? "reused" : "new") connection \(connection)\(peer), \(total.readable)"
        let lines = phases.map { phase in
            let bar = String(repeating: "▇", count: max(1, Int(self[phase] * 30 / whole)))
            return "  \(phase.rawValue.padded(to: 9)) \(self[phase].readable.padded(to: 10)) \(bar)"
        }
        return ([heading] + lines).joined(separator: "\n")
    }
}

extension Int64 {
    /// Nanoseconds for people.
    fileprivate var readable: String {
        let microseconds = self / 1000
        if microseconds < 1000 { return "\(microseconds) µs" }
        let tenths = microseconds / 100
        if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) ms" }
        return "\(tenths / 10_000).\(tenths / 1000 % 10) s"
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
