import Dunlin
import DunlinResilience
import DunlinTesting

/// A session of a storm that has limits of rate, breakers, learned limits, limits of attempts and retries; and what may
/// come of that.
enum Resilient {
    /// Requests fall into so many lanes, each with a breaker, a limit and a server's limit of its own, whichever server
    /// there is.
    static let lanes = 8
    private static let most: Duration = .milliseconds(200)

    static func put(on configuration: inout HTTPSession.Configuration) {
        let lane = { @Sendable (head: RequestHead) in
            "lane \((PlannedCall(target: head.target)?.number ?? 0) % lanes)"
        }
        var breaker = Resilience.Breaker()
        (breaker.outcomes, breaker.minimum, breaker.failureRate, breaker.probes) = (20, 6, 0.4, 4)
        (breaker.openFor, breaker.longestOpen) = (.milliseconds(2), .milliseconds(10))
        breaker.slowAfter = .milliseconds(150)
        var rate = Resilience.RateLimit(1000, burst: 20, key: lane)
        (rate.mostWaiting, rate.longestWait) = (12, most)
        var resilience = Resilience()
        (resilience.breaker, resilience.rates) = (breaker, [Resilience.RateLimit(5000, burst: 200), rate])
        (resilience.key, resilience.longestWait) = (lane, most)
        resilience.attempt = .milliseconds(150)
        // Nothing fills an empty budget but requests that succeed.
        resilience.retry = .exponential(
            attempts: 3, base: .milliseconds(1), cap: .milliseconds(20), budget: .ratio(0.2, floor: 0))
        configuration.resilience = resilience
    }

    /// What a server says of its limit along with some answers.
    static func fields(_ call: PlannedCall) -> Fields {
        switch call.number % 97 {
        case 5: ["X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "20ms"]
        case 6: ["X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "50", "X-RateLimit-Reset": "100ms"]
        case 7: ["X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "10ms"]
        default: Fields()
        }
    }

    /// What is wrong with a refusal; nil if it is as it may be.
    static func complaint(about error: NetworkError) -> String? {
        guard let refusal = error.underlying as? ResilienceRefusal else { return "refused without a reason" }
        if refusal.comesBack < .zero { return "comes back before now" }
        switch (error.code, refusal.reason) {
        case (.rateLimited, .rate): return refusal.openFor == nil ? nil : "a limit is no breaker"
        case (.circuitOpen, .failures(let bad, let all)):
            return all >= 6 && Double(bad) >= 0.4 * Double(all) ? nil : "opened too early"
        case (.circuitOpen, .slow(let bad, let all)): return all >= 6 && bad == all ? nil : "opened too early"
        case (.circuitOpen, .probe), (.circuitOpen, .budget): return nil
        default: return "refused for another reason"
        }
    }

    /// Nothing waits after a storm, and each breaker closes at a server that is well.
    static func expectRest(_ session: HTTPSession, _ tally: Tally) async throws {
        if !session.resilienceGauges.waiting.isEmpty {
            tally.violation("at limits of rate: \(session.resilienceGauges.waiting)")
        }
        let server = try LoopbackServer()
        server.respond { _ in .response(body: "well") }
        for lane in 0..<lanes {
            let target = HTTP.Target.url("\(server.baseURL)/\(lane)/0/0/0")
            let end = ContinuousClock.now + .seconds(60)
            repeat {
                do {
                    _ = try await session.get(target, as: .string)
                } catch let error as NetworkError where error.code == .circuitOpen || error.code == .rateLimited {
                    try await Task.sleep(for: .milliseconds(2))
                }
            } while session.resilienceGauges.breakers["lane \(lane)"] != nil && ContinuousClock.now < end
        }
        let gauges = session.resilienceGauges
        if !gauges.breakers.isEmpty { tally.violation("at a server that is well: \(gauges.breakers)") }
        tally.note("\(gauges.refused) refused")
        server.stop()
    }
}
