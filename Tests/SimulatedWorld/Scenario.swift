/// What happens to which server, and how many clients it has. Times are in seconds unless a comment says otherwise.
package struct Scenario: Sendable {
    package let name: String
    package let title: String
    package var clients = 20
    package var length = 140.0
    package var server = ServerRules()
    /// What is measured, but for the recovery, which begins after the disturbance.
    package var measured = 20..<80
    /// What all clients together ask for, as a part of the capacity; the second during the disturbance.
    package var usual = 0.7
    package var disturbed = 0.7
    /// How long one attempt, and a request, may take, in nanoseconds.
    package var attemptLimit: Int64 = 1_000_000_000
    package var totalLimit: Int64 = 10_000_000_000

    package init(_ name: String, _ title: String, _ change: (inout Scenario) -> Void) {
        self.name = name
        self.title = title
        change(&self)
    }

    /// Requests a second.
    func rate(at second: Double) -> Double {
        var whole = server
        (whole.down, whole.failing) = (nil, nil)
        return whole.capacity(at: second) * (server.disturbance.contains(second) ? disturbed : usual)
    }

    /// The same with each parameter up to a half more or less.
    package func varied(_ random: inout Random) -> Scenario {
        var other = self
        other.server.workers = max(1, random.varied(server.workers).rounded())
        other.server.mean = random.varied(server.mean)
        other.server.queue = Int(random.varied(Double(server.queue)))
        other.server.refusalCost = random.varied(server.refusalCost)
        other.server.crowding = random.varied(server.crowding)
        other.server.slowStart = random.varied(server.slowStart)
        other.server.lateShare = random.varied(server.lateShare)
        other.server.slowness = random.varied(server.slowness)
        if let limit = server.limit {
            other.server.limit?.quota = Int(random.varied(Double(limit.quota)))
            other.server.limit?.window = random.varied(limit.window).rounded()
        }
        other.clients = Int(random.varied(Double(clients)))
        other.attemptLimit = Int64(random.varied(Double(attemptLimit)))
        other.totalLimit = Int64(random.varied(Double(totalLimit)))
        return other
    }

    package static let all = [
        Scenario("overload", "Twice what the server can do, for a minute") { $0.disturbed = 2 },
        Scenario("slow-start", "Ten seconds down, and then half a minute to be as fast as before") {
            ($0.server.down, $0.server.slowStart, $0.server.disturbance) = (20..<30, 30, 20..<60)
            $0.measured = 20..<60
        },
        Scenario("storm", "Five seconds of failures, before a queue that is longer than the limit of an attempt") {
            ($0.usual, $0.disturbed) = (0.85, 0.85)
            ($0.server.queue, $0.server.crowding) = (500, 1)
            ($0.server.failing, $0.server.disturbance) = (20..<25, 20..<25)
        },
        Scenario("limit-fixed", "200 clients ask for twice their limit; windows begin at fixed times") {
            limited(&$0, slides: false)
        },
        Scenario("limit-sliding", "200 clients ask for twice their limit; the window slides") {
            limited(&$0, slides: true)
        },
        Scenario("grey", "One answer of twenty comes a hundred times later than usual") {
            ($0.server.lateShare, $0.server.mean, $0.server.workers) = (0.05, 0.02, 2)
        },
    ]

    private static func limited(_ scenario: inout Scenario, slides: Bool) {
        scenario.clients = 200
        (scenario.server.workers, scenario.server.queue) = (60, 300)
        scenario.server.limit = Limiter.Rules(quota: 500, window: 10, slides: slides)
        scenario.disturbed = 2
    }
}
