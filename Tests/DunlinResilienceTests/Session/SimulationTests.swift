import SimulatedWorld
import Testing

/// The simulation restates what sessions do between the machines: the gate's order, retries and their budget. Here real
/// sessions meet the same server, and each request must come to the same at the same nanosecond.
@Suite(.timeLimit(.minutes(10))) struct `A simulated world` {
    struct Case: Sendable, CustomTestStringConvertible {
        let scenario: Scenario
        /// How much time passes between two requests, in nanoseconds, and how many there are.
        let pace: Int64
        let count: Int
        /// What must happen to some, so that the comparison compares something.
        let ends: [Course.End]

        var testDescription: String { scenario.name }

        var arrivals: [Arrival] {
            (1...count).map { Arrival(client: $0 % scenario.clients, time: Int64($0) * pace) }
        }
    }

    private static func scenario(_ name: String, _ change: (inout Scenario) -> Void) -> Scenario {
        Scenario(name, name) {
            ($0.clients, $0.length) = (3, 60)
            // Nobody waits for a worker: which request was first is the only thing that time does not decide.
            ($0.server.workers, $0.server.mean, $0.server.crowding) = (1000, 0.02, 0)
            $0.server.disturbance = 3..<8
            change(&$0)
        }
    }

    static let cases = [
        Case(
            scenario: scenario("fails for five seconds") { $0.server.failing = 3..<8 }, pace: 61_000_007, count: 400,
            ends: [.succeeded, .failed, .refusedByBreaker]),
        Case(
            scenario: scenario("refuses connections") { $0.server.down = 3..<8 }, pace: 31_000_003, count: 600,
            ends: [.succeeded, .failed, .refusedByBreaker]),
        Case(
            scenario: scenario("answers too late") {
                ($0.server.lateShare, $0.server.slowness, $0.totalLimit) = (0.6, 150, 1_450_000_000)
            }, pace: 61_000_007, count: 400, ends: [.succeeded, .refusedByBreaker, .outOfTime]),
        Case(
            scenario: scenario("allows so many in fixed windows") {
                $0.server.limit = Limiter.Rules(quota: 20, window: 5)
            }, pace: 149_000_009, count: 150, ends: [.succeeded, .refusedAtLimit]),
        Case(
            scenario: scenario("allows so many in any five seconds, and fails") {
                $0.server.limit = Limiter.Rules(quota: 40, window: 5, slides: true)
                $0.server.failing = 3..<8
            }, pace: 89_000_011, count: 250, ends: [.succeeded, .refusedByBreaker]),
    ]

    @Test(arguments: cases) func `is what real sessions meet, to the nanosecond`(given: Case) async throws {
        for chance in [1 << 63, UInt64.max / 5] {
            var world = World(given.scenario, .dunlin, given.arrivals, Random(always: chance))
            world.run()
            let real = try await RealWorld(given.scenario, chance: chance).run(given.arrivals)
            let differing = zip(world.courses, real).enumerated().filter { $1.0 != $1.1 }
            #expect(world.courses.count == real.count && real.allSatisfy { $0.end != nil })
            #expect(differing.isEmpty, "\(differing.count): \(differing.first.map { "\($0)" } ?? "")")
            for end in given.ends { #expect(real.contains { $0.end == end }, "\(end)") }
        }
    }
}
