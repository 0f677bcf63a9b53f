/// What a run is measured by.
package struct Measures {
    package private(set) var requests: [Int]
    private(set) var attempts: [Int]
    package private(set) var good: [Int]
    /// How long requests that succeeded took, and when.
    private var times: [(second: Int, Int64)] = []

    init(seconds: Int) {
        requests = Array(repeating: 0, count: seconds)
        (attempts, good) = (requests, requests)
    }

    mutating func requested(at now: Int64) { requests[Int(now / 1_000_000_000)] += 1 }

    mutating func attempted(at now: Int64) { attempts[Int(now / 1_000_000_000)] += 1 }

    mutating func succeeded(after time: Int64, at now: Int64) {
        good[Int(now / 1_000_000_000)] += 1
        times.append((Int(now / 1_000_000_000), time))
    }

    package func results(_ scenario: Scenario) -> Results {
        let seconds = scenario.measured
        let possible = seconds.reduce(0.0) {
            $0 + min(Double(requests[$1]), scenario.server.capacity(at: Double($1) + 0.5))
        }
        let during = times.filter { seconds.contains($0.second) }.map { Double($0.1) / 1e9 }.sorted()
        let sent = Double(seconds.reduce(0) { $0 + attempts[$1] })
        let asked = Double(max(1, seconds.reduce(0) { $0 + requests[$1] }))
        return Results(
            goodput: Double(seconds.reduce(0) { $0 + good[$1] }) / max(1, possible),
            median: during.isEmpty ? .infinity : during[during.count / 2],
            slowest: during.isEmpty ? .infinity : during[during.count * 99 / 100],
            load: sent / asked,
            peak: Double(seconds.map { attempts[$0] }.max() ?? 0) * Double(seconds.count) / asked,
            recovery: recovery(from: Int(scenario.server.disturbance.upperBound), scenario))
    }

    /// How many seconds pass before five follow in which nine tenths of what is possible succeed.
    private func recovery(from end: Int, _ scenario: Scenario) -> Double {
        for start in end..<max(end, requests.count - 4) {
            let five = start..<start + 5
            let possible = five.reduce(0.0) {
                $0 + min(Double(requests[$1]), scenario.server.capacity(at: Double($1) + 0.5))
            }
            if Double(five.reduce(0) { $0 + good[$1] }) >= 0.9 * possible { return Double(start - end) }
        }
        return .infinity
    }
}

/// What is said of a run. Times are in seconds.
package struct Results {
    /// Successes, as a part of what was possible.
    package var goodput: Double
    package var median: Double
    /// What 99 of 100 successes did not exceed.
    package var slowest: Double
    /// Attempts for each request.
    package var load: Double
    /// Attempts in the second that had most of them, as a part of the requests in a mean one.
    package var peak: Double
    /// How long after the disturbance it takes to be as before.
    package var recovery: Double

    /// The worst of each.
    package static func worst(_ all: [Results]) -> Results {
        Results(
            goodput: all.map(\.goodput).min() ?? 0, median: all.map(\.median).max() ?? 0,
            slowest: all.map(\.slowest).max() ?? 0, load: all.map(\.load).max() ?? 0,
            peak: all.map(\.peak).max() ?? 0, recovery: all.map(\.recovery).max() ?? 0)
    }

    /// The middle of each.
    package static func middle(_ all: [Results]) -> Results {
        func middle(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        return Results(
            goodput: middle(all.map(\.goodput)), median: middle(all.map(\.median)),
            slowest: middle(all.map(\.slowest)), load: middle(all.map(\.load)),
            peak: middle(all.map(\.peak)), recovery: middle(all.map(\.recovery)))
    }
}
