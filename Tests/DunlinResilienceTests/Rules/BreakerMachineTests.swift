import DunlinTypes
import Testing

@testable import DunlinResilience

@Suite struct `Breaker machine` {
    private static func at(_ seconds: Double) -> HTTP.Instant { .init(nanoseconds: Int64(seconds * 1e9)) }

    /// Four outcomes at least, half of which are failures, open it; then 1, 2 and 4 probes close it.
    private static var rules: Resilience.Breaker {
        var rules = Resilience.Breaker()
        (rules.outcomes, rules.minimum, rules.probes) = (10, 4, 4)
        return rules
    }

    /// Has requests ended at once: `s`, `f` or `n`; a capital letter is slow, by two seconds. Returns its state.
    @discardableResult private static func run(
        _ machine: inout BreakerMachine, _ outcomes: String, at now: HTTP.Instant = at(0)
    ) -> BreakerMachine.State {
        for letter in outcomes {
            guard case .go(let number, _) = machine.ask(at: now) else { continue }
            machine.ended(number, Self.outcome(letter), after: letter.isUppercase ? 2_000_000_000 : 1, at: now)
        }
        return machine.state
    }

    private static func outcome(_ letter: Character) -> BreakerMachine.Outcome {
        switch letter.lowercased() {
        case "s": .success
        case "f": .failure
        default: .neither
        }
    }

    private static func opened(_ rules: Resilience.Breaker = rules) -> BreakerMachine {
        var machine = BreakerMachine(rules)
        run(&machine, "ffff")
        return machine
    }

    @Test(
        arguments: [
            ("fff", .closed), ("ffff", .open), ("ssff", .open), ("sssff", .closed), ("ffsss", .open),
            ("sssnnnnf", .closed), ("nnnnnnnn", .closed), ("SSSS", .closed),
            // Ten outcomes, and buckets of one: the eleventh forgets the first.
            ("sssssssssssffff", .closed), ("sssssssssssfffff", .open),
        ] as [(String, BreakerMachine.State)])
    func `opens at the rate of failures, and not before the minimum`(outcomes: String, state: BreakerMachine.State) {
        var machine = BreakerMachine(Self.rules)
        #expect(Self.run(&machine, outcomes) == state)
    }

    @Test(
        arguments: [
            ("SSSs", 0.5, BreakerReason(.slowness, bad: 3, of: 4)), ("ssSS", 0.5, .init(.slowness, bad: 2, of: 4)),
            ("sssS", 0.5, nil), ("SSSs", 1, nil), ("SSSS", 1, .init(.slowness, bad: 4, of: 4)),
            ("FFFS", 1, .init(.failures, bad: 3, of: 4)),
        ] as [(String, Double, BreakerReason?)])
    func `opens at the rate of slow requests, and says how many`(
        outcomes: String, rate: Double, reason: BreakerReason?
    ) {
        var rules = Self.rules
        (rules.slowAfter, rules.slowRate) = (.seconds(1), rate)
        var machine = BreakerMachine(rules)
        Self.run(&machine, outcomes)
        let refusal = reason.map { BreakerMachine.Answer.refuse(since: Self.at(0), until: Self.at(5), $0) }
        #expect(machine.ask(at: Self.at(1)) == refusal ?? .go(number: 4, isProbe: false))
    }

    @Test(arguments: [(15, 15), (19, 12), (25, 25), (29, 21), (4, 4), (100, 100)])
    func `opens after the minimum of failures, whatever the numbers are`(outcomes: Int, minimum: Int) {
        var rules = Resilience.Breaker()
        (rules.outcomes, rules.minimum) = (outcomes, minimum)
        var machine = BreakerMachine(rules)
        for count in 1...minimum {
            guard case .go(let number, false) = machine.ask(at: HTTP.Instant(nanoseconds: 1)) else { break }
            machine.ended(number, .failure, after: 0, at: HTTP.Instant(nanoseconds: 1))
            #expect(machine.state == (count < minimum ? .closed : .open))
        }
    }

    @Test func `forgets outcomes that are too old`() {
        var machine = BreakerMachine(Self.rules)
        Self.run(&machine, "ff", at: Self.at(0))
        Self.run(&machine, "f", at: Self.at(3))
        #expect(Self.run(&machine, "ss", at: Self.at(30)) == .closed)
        #expect(Self.run(&machine, "f", at: Self.at(31)) == .open)
    }

    @Test func `an open breaker refuses until its time is over, and then lets one probe through at once`() {
        var machine = Self.opened()
        let reason = BreakerReason(.failures, bad: 4, of: 4)
        let refusal = BreakerMachine.Answer.refuse(since: Self.at(0), until: Self.at(5), reason)
        #expect(machine.ask(at: Self.at(4.999)) == refusal)
        #expect(machine.state == .open)
        #expect(machine.ask(at: Self.at(6)) == .go(number: 4, isProbe: true))
        #expect(machine.state == .halfOpen)
        // The next may go when the probe has been under way for as long as the breaker was open.
        #expect(machine.ask(at: Self.at(7)) == .refuse(since: Self.at(0), until: Self.at(11), reason))
        #expect(machine.ask(at: Self.at(11)) == .go(number: 5, isProbe: true))
    }

    @Test func `probes rise from one to the most, and then the breaker closes`() {
        var machine = Self.opened()
        var rounds: [Int] = []
        while machine.state != .closed {
            var numbers: [UInt64] = []
            while case .go(let number, true) = machine.ask(at: Self.at(6)) { numbers.append(number) }
            rounds.append(numbers.count)
            for number in numbers { machine.ended(number, .success, after: 1, at: Self.at(6)) }
        }
        #expect(rounds == [1, 2, 4])
        #expect(machine.ask(at: Self.at(6)) == .go(number: 11, isProbe: false))
    }

    @Test(arguments: [("f", [5, 10, 20, 40, 60, 60]), ("sf", [5, 5, 5, 5, 5, 5])] as [(String, [Double])])
    func `each failed probe opens it for twice as long, unless one before it succeeded, and closing begins anew`(
        probes: String, expected: [Double]
    ) {
        var machine = Self.opened()
        var now = 0.0
        var lengths: [Double] = []
        for _ in 0..<6 {
            guard case .refuse(let since, let until, let reason) = machine.ask(at: Self.at(now)) else { break }
            lengths.append(Double(until.nanoseconds - since.nanoseconds) / 1e9)
            if now > 0 { #expect(reason == BreakerReason(.probe, bad: 1, of: probes.count)) }
            now = Double(until.nanoseconds) / 1e9
            #expect(Self.run(&machine, probes, at: until) == .open)
        }
        #expect(lengths == expected)
        #expect(Self.run(&machine, "sssssss", at: Self.at(1000)) == .closed)
        Self.run(&machine, "ffff", at: Self.at(1000))
        let reason = BreakerReason(.failures, bad: 4, of: 4)
        #expect(machine.ask(at: Self.at(1001)) == .refuse(since: Self.at(1000), until: Self.at(1005), reason))
    }

    @Test func `a slow probe is a bad one`() {
        var rules = Self.rules
        rules.slowAfter = .seconds(1)
        var machine = Self.opened(rules)
        #expect(Self.run(&machine, "S", at: Self.at(6)) == .open)
    }

    @Test(arguments: [true, false])
    func `a probe that was not sent, or says nothing, makes room for another`(isSent: Bool) {
        var machine = Self.opened()
        for number in UInt64(4)..<9 {
            #expect(machine.ask(at: Self.at(6)) == .go(number: number, isProbe: true))
            if isSent { machine.ended(number, .neither, after: 1, at: Self.at(6)) } else { machine.forget(number) }
        }
        #expect(machine.state == .halfOpen)
    }

    @Test func `what began before the state changed changes nothing`() {
        var machine = BreakerMachine(Self.rules)
        // These six began while it was closed.
        let old = (0..<6).map { _ in machine.ask(at: Self.at(0)) }.compactMap {
            if case .go(let number, _) = $0 { number } else { nil }
        }
        Self.run(&machine, "ffff")
        machine.ended(old[0], .success, after: 1, at: Self.at(1))
        #expect(machine.state == .open)
        #expect(machine.ask(at: Self.at(5)) == .go(number: 10, isProbe: true))
        machine.ended(old[1], .success, after: 1, at: Self.at(5))
        machine.ended(old[2], .failure, after: 1, at: Self.at(5))
        machine.forget(old[3])
        #expect(machine.state == .halfOpen)
        // The probe of an earlier half-open time neither closes nor opens a later one.
        guard case .go = machine.ask(at: Self.at(10)) else { Issue.record("no second probe"); return }
        machine.ended(11, .failure, after: 1, at: Self.at(10))
        #expect(machine.ask(at: Self.at(20)) == .go(number: 12, isProbe: true))
        machine.ended(10, .failure, after: 1, at: Self.at(20))
        #expect(machine.state == .halfOpen)
        for number in UInt64(12)..<19 {
            if number > 12 { _ = machine.ask(at: Self.at(20)) }
            machine.ended(number, .success, after: 1, at: Self.at(20))
        }
        #expect(machine.state == .closed)
        for number in UInt64(0)..<12 { machine.ended(number, .failure, after: 1, at: Self.at(20)) }
        #expect(machine.state == .closed)
    }

    @Test func `rules and times at the ends of their ranges do not trap`() {
        var rules = Resilience.Breaker()
        (rules.outcomes, rules.minimum, rules.probes, rules.window) = (0, 0, 0, .zero)
        (rules.openFor, rules.longestOpen) = (.seconds(Int64.max), .seconds(Int64.max))
        var machine = BreakerMachine(rules)
        #expect(Self.run(&machine, "f", at: .never) == .open)
        #expect(Self.run(&machine, "s", at: .never) == .closed)
        #expect(Self.run(&machine, "s", at: HTTP.Instant(nanoseconds: .min)) == .closed)
    }
}
