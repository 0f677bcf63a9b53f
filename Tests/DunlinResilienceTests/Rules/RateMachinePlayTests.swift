import DunlinTypes
import Testing

@testable import DunlinResilience

@Suite struct `Rate machine at random` {
    /// Numbers that a seed determines.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) | (state << 31)
        }
    }

    private struct Asking {
        let time: Int64
        let number: UInt64
        let deadline: Int64
    }

    @Test(arguments: UInt64(1)...50)
    func `whatever happens, the rate is kept, and nobody waits beyond the end`(seed: UInt64) {
        var numbers = Numbers(state: seed)
        let burst = Int.random(in: 1...5, using: &numbers)
        let rules = RateRules(requests: 10, burst: burst, mostWaiting: 20, longestWait: .seconds(5))
        var machine = RateMachine(rules)
        var asking: [Asking] = []
        var went: [Int64] = []
        var now: Int64 = 0

        func note(_ answer: RateMachine.Answer?, _ deadline: Int64) {
            switch answer {
            case .go:
                went.append(now)
                #expect(now < deadline)
            case .wait(let number, let until):
                #expect(until.nanoseconds > now && until.nanoseconds < deadline)
                asking.append(Asking(time: until.nanoseconds, number: number, deadline: deadline))
            case .refuse(let until, _): #expect(until.nanoseconds >= now)
            case nil: Issue.record("a waiter is not known")
            }
        }

        for _ in 0..<400 {
            let next = now + Int64.random(in: 0...100_000_000, using: &numbers)
            // Those who are due ask, in any order, and so some of them late.
            while let index = asking.indices.filter({ asking[$0].time <= next }).randomElement(using: &numbers) {
                let one = asking.remove(at: index)
                now = max(now, one.time)
                note(machine.again(one.number, at: HTTP.Instant(nanoseconds: now)), one.deadline)
            }
            now = next
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0 where !asking.isEmpty:
                machine.leave(asking.remove(at: Int.random(in: asking.indices, using: &numbers)).number)
            case 1 where !asking.isEmpty:
                machine.move(asking.randomElement(using: &numbers)?.number ?? 0, to: .high)
            default:
                let deadline = now + Int64.random(in: 1...4_000_000_000, using: &numbers)
                let priority = [HTTP.Priority.low, .normal, .high].randomElement(using: &numbers) ?? .normal
                let instant = HTTP.Instant(nanoseconds: now)
                note(machine.ask(priority, until: HTTP.Instant(nanoseconds: deadline), at: instant), deadline)
            }
            #expect(machine.waiting == asking.count && machine.waiting <= 20)
        }

        for (index, time) in went.enumerated() {
            // Of those after `time` none more than the bucket held, and what it got since.
            let most = went[index...].enumerated().allSatisfy { $0 < burst + Int(($1 - time) / 100_000_000) + 1 }
            #expect(most)
        }
        #expect(went.count > 80)
    }
}
