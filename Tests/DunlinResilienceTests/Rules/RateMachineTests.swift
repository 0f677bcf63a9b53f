import DunlinTypes
import Testing

@testable import DunlinResilience

private func at(_ seconds: Double) -> HTTP.Instant { .init(nanoseconds: Int64((seconds * 1e9).rounded())) }

@Suite struct `Rate machine` {
    private typealias Answer = RateMachine.Answer

    /// One request a second, by itself.
    private static func machine(
        _ requests: Int = 1, burst: Int = 1, mostWaiting: Int = 100, longestWait: Duration = .seconds(60)
    ) -> RateMachine {
        RateMachine(
            RateRules(requests: requests, burst: burst, mostWaiting: mostWaiting, longestWait: longestWait))
    }

    private static func ask(_ machine: inout RateMachine, _ count: Int, at time: Double) -> [Answer] {
        (0..<count).map { _ in machine.ask(.normal, until: .never, at: at(time)) }
    }

    @Test(
        arguments: [
            (1, [0, 0.5, 1, 1.9, 2, 10, 10], [true, false, true, false, true, true, false]),
            (3, [0, 0, 0, 0, 1, 1, 10, 10, 10, 10], [true, true, true, false, true, false, true, true, true, false]),
        ] as [(Int, [Double], [Bool])])
    func `requests go at the rate, and as many at once as were saved`(burst: Int, times: [Double], goes: [Bool]) {
        var machine = Self.machine(burst: burst)
        let went = times.map { time in
            let answer = machine.ask(.normal, until: .never, at: at(time))
            if case .wait(let number, _) = answer { machine.leave(number) }
            return answer == .go
        }
        #expect(went == goes)
    }

    @Test func `those who wait are told when their turn comes, by priority and then by arrival`() {
        var machine = Self.machine()
        let priorities: [HTTP.Priority] = [.normal, .normal, .normal, .low, .high, .normal]
        let answers = priorities.map { machine.ask($0, until: .never, at: at(0)) }
        let expected: [Answer] = [
            .go, .wait(number: 0, until: at(1)), .wait(number: 1, until: at(2)), .wait(number: 2, until: at(3)),
            .wait(number: 3, until: at(1)), .wait(number: 4, until: at(4)),
        ]
        #expect(answers == expected)
        // Each asks when it was told to; the fourth, of high priority, came before the first.
        var order: [UInt64] = []
        var asking: [(HTTP.Instant, UInt64)] = [(at(1), 0), (at(1), 3), (at(2), 1), (at(3), 2), (at(4), 4)]
        while let next = asking.min(by: { $0 < $1 }) {
            asking.removeAll { $0 == next }
            switch machine.again(next.1, at: next.0) {
            case .go: order.append(next.1)
            case .wait(let number, let until): asking.append((until, number))
            default: Issue.record("refused")
            }
        }
        #expect(order == [3, 0, 1, 4, 2])
        #expect(machine.waiting == 0)
    }

    @Test func `a change of priority changes the turn, and who has left is not known any more`() {
        var machine = Self.machine()
        _ = Self.ask(&machine, 4, at: 0)
        machine.move(2, to: .high)
        machine.move(9, to: .high)
        #expect(machine.again(2, at: at(0.5)) == .wait(number: 2, until: at(1)))
        #expect(machine.again(0, at: at(0.5)) == .wait(number: 0, until: at(2)))
        machine.leave(2)
        #expect(machine.again(2, at: at(1)) == nil)
        #expect(machine.again(0, at: at(1)) == .go)
        #expect(machine.again(0, at: at(1)) == nil)
    }

    @Test(
        arguments: [
            (3.5, 60, 100, nil), (3, 60, 100, .pastDeadline), (1, 60, 100, .pastDeadline), (100, 2, 100, .tooLong),
            (100, 3, 100, nil), (100, 60, 2, .tooManyWaiting), (100, 60, 3, nil), (100, 60, 0, .tooManyWaiting),
        ] as [(Double, Int, Int, RateRefusal.Kind?)])
    func `a request is refused at once whose turn would come too late, or which finds too many waiting`(
        deadline: Double, longestWait: Int, mostWaiting: Int, refusal: RateRefusal.Kind?
    ) {
        var machine = Self.machine(mostWaiting: mostWaiting, longestWait: .seconds(longestWait))
        let before = Self.ask(&machine, 3, at: 0)
        // Its turn is the third, at two seconds, or three.
        let answer = machine.ask(.normal, until: at(deadline), at: at(0))
        let turn = Double(before.count { $0 != .go && !"\($0)".hasPrefix("refuse") } + 1)
        if let refusal {
            #expect(answer == .refuse(until: at(turn), RateRefusal(refusal, isServers: false)))
        } else {
            #expect(answer == .wait(number: 2, until: at(turn)))
        }
    }

    @Test func `who is overtaken beyond its deadline is refused when it asks again`() {
        var machine = Self.machine()
        _ = machine.ask(.normal, until: .never, at: at(0))
        #expect(machine.ask(.normal, until: at(2), at: at(0)) == .wait(number: 0, until: at(1)))
        #expect(machine.ask(.high, until: at(2), at: at(0)) == .wait(number: 1, until: at(1)))
        #expect(machine.again(0, at: at(1)) == .refuse(until: at(2), RateRefusal(.pastDeadline, isServers: false)))
        #expect(machine.waiting == 1)
    }

    @Test func `rules and times at the ends of their ranges do not trap`() {
        for (requests, burst, per) in [(Int.max, Int.max, Duration.zero), (0, -1, .seconds(Int64.max)), (1, 1, .zero)] {
            let rules = RateRules(requests: requests, per: per, burst: burst, mostWaiting: 1, longestWait: per)
            var machine = RateMachine(rules)
            for time in [HTTP.Instant(nanoseconds: .min), at(0), .never] {
                _ = machine.ask(.normal, until: .never, at: time)
                let limit = LearnedLimit(
                    quota: .max, window: .seconds(Int64.max), remaining: .max, reset: per, silence: .nanoseconds(1))
                machine.learned(limit, chance: .max, at: time)
            }
        }
        var machine = Self.machine(.max)
        #expect(Self.ask(&machine, 1000, at: 0).allSatisfy { $0 == .go })
    }
}

@Suite struct `Limits of servers` {
    /// What became of requests that were asked for together: when each may go at the earliest.
    private static func times(_ count: Int, _ limits: [(Double, LearnedLimit)], at now: Double, sent: Int = 0)
        -> [Double]
    {
        var machine = RateMachine(RateRules(requests: .max, longestWait: .seconds(7200)))
        for _ in 0..<sent { _ = machine.ask(.normal, until: .never, at: at(0)) }
        for (time, limit) in limits { machine.learned(limit, chance: .max / 2 + 1, at: at(time)) }
        return (0..<count).map { _ in
            switch machine.ask(.normal, until: .never, at: at(now)) {
            case .go: now
            case .wait(_, let until), .refuse(let until, _): Double(until.nanoseconds) / 1e9
            }
        }
    }

    @Test(
        arguments: [
            // All that the server served was for this client: it is paced at 10 s, from half of that on.
            (
                [(0, LearnedLimit(quota: 6, window: .seconds(60), remaining: 2, reset: .seconds(30)))], 4, 0,
                [0, 0, 35, 45]
            ),
            // A quarter of it was: the others leave it a quarter of the rate.
            (
                [(0, LearnedLimit(quota: 6, window: .seconds(60), remaining: 2, reset: .seconds(30)))], 1, 0,
                [0, 0, 50, 90]
            ),
            // None remains, and the time is over half an interval after the reset.
            (
                [(0, LearnedLimit(quota: 6, window: .seconds(60), remaining: 0, reset: .seconds(30)))], 6, 31,
                [35, 45, 55, 65]
            ),
            // Nothing was used up before the reset: nothing is paced.
            (
                [(0, LearnedLimit(quota: 6, window: .seconds(60), remaining: 2, reset: .seconds(30)))], 4, 31,
                [31, 31, 31, 31]
            ),
            // Without a quota there is no pace. A quarter of the silence, by half.
            ([(0, LearnedLimit(silence: .seconds(8)))], 1, 0, [9, 9, 9, 9]),
            ([(0, LearnedLimit(silence: .seconds(8)))], 1, 9.5, [9.5, 9.5, 9.5, 9.5]),
            // After the silence, and an eighth of it, what remains goes; the pace is that of the window.
            (
                [
                    (
                        0,
                        LearnedLimit(
                            quota: 6, window: .seconds(60), remaining: 2, reset: .seconds(30), silence: .seconds(2))
                    )
                ],
                5, 0, [2.25, 2.25, 35, 45]
            ),
            (
                [
                    (
                        0,
                        LearnedLimit(
                            quota: 6, window: .seconds(60), remaining: 2, reset: .seconds(3), silence: .seconds(30))
                    )
                ],
                7, 0, [35, 45, 55, 65]
            ),
        ] as [([(Double, LearnedLimit)], Int, Double, [Double])])
    func `what remains goes, and the next window is paced if nothing does`(
        limits: [(Double, LearnedLimit)], sent: Int, now: Double, times: [Double]
    ) {
        #expect(Self.times(4, limits, at: now, sent: sent) == times)
    }

    @Test(
        arguments: [
            // Later words of the same window: what is less counts, what is more begins anew.
            ([2, 1], [0, 15.5]), ([1, 2], [0, 0]), ([2, 2], [0, 0]), ([0, 0], [15.5, 16.5]),
        ] as [([Int], [Double])])
    func `of several words the newest counts`(remaining: [Int], times: [Double]) {
        let limits = remaining.map {
            (0.0, LearnedLimit(quota: 10, window: .seconds(10), remaining: $0, reset: .seconds(15)))
        }
        #expect(Self.times(2, limits, at: 0, sent: 10) == times)
    }

    @Test(
        arguments: [
            LearnedLimit(), LearnedLimit(quota: 5), LearnedLimit(remaining: 0), LearnedLimit(reset: .seconds(5)),
            LearnedLimit(remaining: -1, reset: .seconds(5)), LearnedLimit(remaining: 0, reset: .zero),
            LearnedLimit(remaining: 0, reset: .seconds(-5)), LearnedLimit(silence: .seconds(-1)),
            LearnedLimit(quota: 5, remaining: 6, reset: .seconds(5)), LearnedLimit(quota: -1, window: .zero),
        ])
    func `what cannot be true, or says too little, is ignored`(limit: LearnedLimit) {
        #expect(Self.times(2, [(0, limit)], at: 0) == [0, 0])
    }

    @Test(arguments: [LearnedLimit(remaining: 0, reset: .seconds(1_000_000)), .init(silence: .seconds(Int64.max))])
    func `nothing lasts longer than an hour and its spread`(limit: LearnedLimit) {
        let time = Self.times(1, [(0, limit)], at: 0)[0]
        #expect(3600 < time && time <= 7200)
    }

    /// Has all who wait ask when they were told to, up to a time. Returns when they go.
    private static func run(_ machine: inout RateMachine, _ answers: [RateMachine.Answer], to end: Double) -> [Double] {
        var asking = answers.compactMap { if case .wait(let number, let until) = $0 { (until, number) } else { nil } }
        var times: [Double] = []
        while let next = asking.min(by: { $0 < $1 }), next.0 <= at(end) {
            asking.removeAll { $0 == next }
            switch machine.again(next.1, at: next.0) {
            case .go: times.append(Double(next.0.nanoseconds) / 1e9)
            case .wait(let number, let until): asking.append((until, number))
            default: Issue.record("refused")
            }
        }
        return times
    }

    @Test func `those who wait are paced beyond the window, and the pace follows what the server says`() {
        var machine = RateMachine(RateRules(requests: .max, longestWait: .seconds(600)))
        for _ in 0..<6 { _ = machine.ask(.normal, until: .never, at: at(0)) }
        machine.learned(
            LearnedLimit(quota: 6, window: .seconds(60), remaining: 0, reset: .seconds(30)), chance: 0, at: at(0))
        let answers = (0..<12).map { _ in machine.ask(.normal, until: .never, at: at(0)) }
        #expect(Self.run(&machine, answers, to: 110) == [30, 40, 50, 60, 70, 80, 90, 100, 110])
        // This client had all that was served; so it may have the four that remain, in the time that is left.
        machine.learned(
            LearnedLimit(quota: 6, window: .seconds(60), remaining: 4, reset: .seconds(20)), chance: 0, at: at(110))
        #expect(machine.time(at: at(110)) == at(120))
        #expect(machine.again(9, at: at(120)) == .go)
        #expect(machine.again(10, at: at(125)) == .go)
        // When none waits any more, the pace is over.
        #expect(machine.again(11, at: at(130)) == .go)
        #expect(machine.ask(.normal, until: .never, at: at(131)) == .go)
        #expect(machine.ask(.normal, until: .never, at: at(131)) == .go)
    }

    @Test func `requests under way do not take the same one`() {
        var machine = RateMachine(RateRules(requests: .max))
        let said = [10, 9, 8].map {
            LearnedLimit(quota: 10, window: .seconds(10), remaining: $0, reset: .seconds(10))
        }
        machine.learned(said[0], chance: 0, at: at(0))
        var went = 0
        for _ in 0..<5 where machine.ask(.normal, until: .never, at: at(0)) == .go { went += 1 }
        // The answers to the first two: three are still under way.
        machine.learned(said[1], chance: 0, at: at(0))
        machine.learned(said[2], chance: 0, at: at(0))
        while machine.ask(.normal, until: .never, at: at(0)) == .go { went += 1 }
        #expect(went == 10)
    }

    @Test func `two hundred clients that wait for one reset come one after the other`() {
        // Of a quota of 100 a minute, half of them got one each.
        let limit = LearnedLimit(quota: 100, window: .seconds(60), remaining: 0, reset: .seconds(30))
        let times = (0..<200).map { client -> Double in
            var machine = RateMachine(RateRules(requests: .max, longestWait: .seconds(120)))
            _ = machine.ask(.normal, until: .never, at: at(0))
            machine.learned(limit, chance: UInt64(client) * (.max / 200), at: at(0))
            return Double(machine.time(at: at(0)).nanoseconds) / 1e9
        }
        for second in 30..<90 { #expect(times.count { Int($0) == second } <= 4) }
        #expect(times.allSatisfy { 30..<90 ~= $0 })
    }
}
