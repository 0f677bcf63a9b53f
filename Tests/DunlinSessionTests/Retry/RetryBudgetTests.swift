import Dunlin
import DunlinTesting
import Testing

@testable import DunlinSession

@Suite struct `Retry budget` {
    typealias Budget = HTTPSession.RetryPolicy.Budget

    private static let start = HTTP.Instant(nanoseconds: 5)

    private static func later(_ seconds: Int64) -> HTTP.Instant { start.advanced(by: seconds * 1_000_000_000) }

    /// More than any budget has.
    private static let many = 1000

    /// How many retries there are; takes them.
    private static func rest(
        of budget: inout RetryBudgetMachine, _ kind: Budget, _ origin: String = "a", at now: HTTP.Instant = start
    ) -> Int {
        var count = 0
        while count < many, budget.takeRetry(origin, kind, at: now) { count += 1 }
        return count
    }

    @Test(
        arguments: [
            (0, 0.2, 10, 10), (1, 0.2, 10, 10), (5, 0.2, 10, 11), (100, 0.2, 10, 30), (10, 0.1, 0, 1),
            (9, 0.1, 0, 0), (3000, 0.2, 10, 110), (50, 1, 0, 50), (100, 0, 3, 3), (1, 100, 0, 100),
        ] as [(Int, Double, Int, Int)])
    func `a retry budget has a part of a retry for each request, beyond the floor`(
        requests: Int, ratio: Double, floor: Int, retries: Int
    ) {
        var machine = RetryBudgetMachine()
        let budget = Budget.ratio(ratio, floor: floor)
        for _ in 0..<requests { machine.succeeded("a", budget, at: Self.start) }
        #expect(Self.rest(of: &machine, budget) == retries)
    }

    @Test func `a retry budget regains one retry each second, up to the floor`() {
        var machine = RetryBudgetMachine()
        let budget = Budget.ratio(0.2, floor: 10)
        #expect(Self.rest(of: &machine, budget) == 10)
        #expect(Self.rest(of: &machine, budget, at: Self.start.advanced(by: 999_999_000)) == 0)
        #expect(Self.rest(of: &machine, budget, at: Self.later(1)) == 1)
        #expect(Self.rest(of: &machine, budget, at: Self.later(4)) == 3)
        #expect(Self.rest(of: &machine, budget, at: Self.later(1000)) == 10)
        #expect(Self.rest(of: &machine, budget, at: .never) == 10)
        #expect(Self.rest(of: &machine, budget, at: Self.start) == 0)
    }

    @Test func `each origin has a retry budget of its own`() {
        var machine = RetryBudgetMachine()
        let budget = Budget.ratio(0, floor: 2)
        #expect(Self.rest(of: &machine, budget, "a") == 2)
        #expect(Self.rest(of: &machine, budget, "b") == 2)
        #expect(Self.rest(of: &machine, budget, "a") == 0)
    }

    @Test func `a retry that the server asked for is never refused, and is missing to the others`() {
        var machine = RetryBudgetMachine()
        let budget = Budget.ratio(0, floor: 3)
        for index in 0..<5 {
            let isThere = machine.takeRetry("a", budget, isAsked: true, at: Self.start)
            #expect(isThere && machine.left(at: Self.start) == ["a": max(0, 2 - index)])
        }
        #expect(Self.rest(of: &machine, budget) == 0)
    }

    @Test func `a retry budget without a limit refuses no retry and counts nothing`() {
        var machine = RetryBudgetMachine()
        machine.succeeded("a", .unlimited, at: Self.start)
        #expect(Self.rest(of: &machine, .unlimited) == Self.many)
        #expect(machine.count == 0)
    }

    @Test func `the retry budget forgets the origins of long ago`() {
        var machine = RetryBudgetMachine()
        let budget = Budget.ratio(0, floor: 1)
        for index in 0..<5000 {
            let isThere = machine.takeRetry("\(index)", budget, at: Self.start.advanced(by: Int64(index)))
            #expect(isThere)
            #expect(machine.count <= RetryBudgetMachine.remembered)
        }
        #expect(Self.rest(of: &machine, budget, "4999") == 0)
        #expect(Self.rest(of: &machine, budget, "0") == 1)
    }

    /// Whatever happens: no more retries than the ratio, the floor and what time gave back.
    @Test(arguments: [1, 2, 3])
    func `a retry budget allows no more than its limit, in any order of requests and retries`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var machine = RetryBudgetMachine()
        let budget = Budget.ratio(0.2, floor: 10)
        var (now, requests, retries) = (Int64(0), 0, 0)
        for _ in 0..<20_000 {
            now += Int64(generator.next(below: 1_000_000))
            let moment = HTTP.Instant(nanoseconds: now)
            if generator.next(below: 3) == 0 {
                machine.succeeded("a", budget, at: moment)
                requests += 1
            } else if machine.takeRetry("a", budget, at: moment) {
                retries += 1
            }
            #expect(Double(retries) <= 0.2 * Double(requests) + 10 + Double(now) / 1e9 + 1)
        }
        #expect(retries > requests / 10)
    }
}
