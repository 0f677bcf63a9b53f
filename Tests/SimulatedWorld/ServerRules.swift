/// What a server is like, and what happens to it. Times are in seconds.
package struct ServerRules: Sendable {
    package var workers = 10.0
    /// How long one request takes, on average.
    package var mean = 0.1
    package var queue = 50
    /// What it costs to refuse a request, as a part of what one takes.
    package var refusalCost = 0.05
    /// By how much more all takes when the queue is full.
    package var crowding = 0.5
    package var limit: Limiter.Rules?

    package var disturbance = 20.0..<80.0
    package var down: Range<Double>?
    /// How long it takes to be as fast as before, from a tenth.
    package var slowStart = 0.0
    /// When all requests fail at once.
    package var failing: Range<Double>?
    /// The share of requests whose answer comes late during the disturbance, and by how many times the usual.
    package var lateShare = 0.0
    package var slowness = 100.0

    /// Requests a second, as long as none waits.
    package func capacity(at second: Double) -> Double {
        if fails(at: Int64(second * 1e9)) { return 0 }
        let rate = Double(workers(at: Int64(second * 1e9))) / mean
        return min(rate, limit.map { Double($0.quota) / $0.window } ?? rate)
    }

    func isDown(at now: Int64) -> Bool { down?.contains(Double(now) / 1e9) ?? false }

    func fails(at now: Int64) -> Bool { failing?.contains(Double(now) / 1e9) ?? false }

    func slowShare(at now: Int64) -> Double { disturbance.contains(Double(now) / 1e9) ? lateShare : 0 }

    func workers(at now: Int64) -> Int {
        guard let down else { return Int(workers) }
        let since = Double(now) / 1e9 - down.upperBound
        if down.contains(Double(now) / 1e9) { return 0 }
        if since < 0 || since >= slowStart { return Int(workers) }
        return max(1, Int(workers * (0.1 + 0.9 * since / slowStart)))
    }
}
