import Dunlin
import DunlinTesting
import Testing

@testable import DunlinTransfers

@Suite struct `Segment machine` {
    private typealias Machine = SegmentMachine<Int>

    /// One that receives the first of these gaps.
    private static func machine(
        _ workers: Int, _ gaps: [Range<Int>] = [0..<1000], lead: Range<Int>? = nil, minimum: Int = 100, cuts: Int = 256
    ) -> Machine {
        var rules = Machine.Rules()
        (rules.minimum, rules.cuts, rules.smallPiece) = (minimum, cuts, 64)
        return Machine(rules, workers: workers, gaps: gaps, lead: lead ?? gaps[0])
    }

    @Test(arguments: [
        (4, 1000, 100, 4), (4, 399, 100, 3), (4, 199, 100, 1), (4, 0, 100, 1), (1, 1000, 100, 1), (4, 10, 0, 4),
    ])
    func `there are no more workers than the bytes allow at the minimum share`(
        count: Int, bytes: Int, minimum: Int, expected: Int
    ) {
        #expect(Machine.workers(count, for: bytes, minimum: minimum) == expected)
    }

    @Test func `workers that join ask for equal shares, beginning at the far end`() {
        var machine = Self.machine(4)
        #expect(machine.next(for: 1, 1) == .ask(750..<1000))
        #expect(machine.next(for: 2, 2) == .ask(500..<750))
        #expect(machine.next(for: 3, 3) == .ask(250..<500))
        // Until they are answered all of it is the first one's.
        #expect(machine.received(300, by: 0) == .init(count: 300, isEnd: false))
        #expect(machine.answered(500..<750, to: 2).isWanted)
        #expect(machine.received(300, by: 0) == .init(count: 200, isEnd: false))
        // Too late: the first one has passed it.
        #expect(!machine.answered(250..<500, to: 3).isWanted)
        // What lay beyond was asked for already, and is its asker's. Until that is answered the first one reads on.
        #expect(machine.received(100, by: 0) == .init(skipped: 100, count: 0, isEnd: false))
        #expect(machine.answered(750..<1000, to: 1).isWanted)
        #expect(machine.received(100, by: 0) == .init(count: 0, isEnd: true))
        #expect(machine.received(250, by: 1) == .init(count: 250, isEnd: true))
        #expect(machine.missing == 250)
        #expect(machine.received(251, by: 2) == .init(count: 250, isEnd: true))
        #expect(machine.isComplete)
        for worker in 0..<4 { #expect(machine.next(for: worker, worker) == .leave) }
    }

    @Test func `a worker without an answer takes no bytes from another`() {
        var machine = Self.machine(2)
        #expect(machine.next(for: 1, 1) == .ask(500..<1000))
        #expect(machine.refused(1).isEmpty)
        #expect(machine.received(1000, by: 0) == .init(count: 1000, isEnd: true))
        #expect(machine.isComplete && machine.next(for: 1, 1) == .leave)
    }

    @Test func `open gaps are taken first, in equal shares, and small ones whole`() {
        var machine = Self.machine(3, [0..<100, 200..<600, 700..<850])
        #expect(machine.next(for: 1, 1) == .ask(200..<400))
        #expect(machine.next(for: 2, 2) == .ask(400..<600))
        _ = machine.received(100, by: 0)
        #expect(machine.ended(0).isEmpty)
        #expect(machine.next(for: 0, 0) == .ask(700..<850))
        #expect(machine.received(10, by: 1) == .init(count: 10, isEnd: false))
        #expect(machine.broke(1, mayPass: true).delay == .milliseconds(500))
        #expect(machine.next(for: 1, 1) == .ask(210..<400))
    }

    @Test func `bytes that a short answer leaves out stay open`() {
        var machine = Self.machine(2)
        #expect(machine.next(for: 1, 1) == .ask(500..<1000))
        #expect(machine.answered(500..<600, to: 1).isWanted)
        #expect(machine.received(200, by: 1) == .init(count: 100, isEnd: true))
        #expect(machine.ended(1).isEmpty)
        #expect(machine.next(for: 1, 1) == .ask(600..<1000))
    }

    @Test func `an answer with a small piece is not taken out of another worker's run`() {
        var machine = Self.machine(2)
        #expect(machine.next(for: 1, 1) == .ask(500..<1000))
        #expect(!machine.answered(500..<563, to: 1).isWanted)
        #expect(machine.ended(1).isEmpty)
        #expect(machine.received(1000, by: 0) == .init(count: 1000, isEnd: true))
        #expect(machine.isComplete)
    }

    @Test func `the part of a gap that the first response does not cover is asked for`() {
        var machine = Self.machine(2, [100..<500, 600..<1000], lead: 100..<200, minimum: 300)
        #expect(machine.missing == 800)
        #expect(machine.next(for: 1, 1) == .ask(200..<500))
        _ = machine.received(100, by: 0)
        _ = machine.ended(0)
        #expect(machine.next(for: 0, 0) == .ask(600..<1000))
    }

    @Test func `a worker waits while there is too little to share, and is resumed when there is more`() {
        var machine = Self.machine(2, minimum: 501)
        #expect(machine.next(for: 1, 7) == .wait)
        _ = machine.received(300, by: 0)
        let (delay, waiters) = machine.broke(0, mayPass: true)
        #expect(delay == .milliseconds(500) && waiters == [7])
        #expect(machine.next(for: 1, 7) == .ask(300..<1000))
        #expect(machine.next(for: 0, 8) == .hesitate)
        #expect(machine.answered(300..<1000, to: 1).waiters == [8])
        _ = machine.received(700, by: 1)
        #expect(machine.next(for: 0, 8) == .leave)
    }

    @Test func `the rest of a broken run goes to the workers that asked for it`() {
        var machine = Self.machine(3)
        #expect(machine.next(for: 1, 1) == .ask(667..<1000))
        #expect(machine.next(for: 2, 2) == .ask(334..<667))
        _ = machine.received(10, by: 0)
        _ = machine.broke(0, mayPass: false)
        #expect(machine.next(for: 0, 0) == .leave)
        _ = machine.refused(2)
        #expect(machine.next(for: 2, 2) == .leave)
        #expect(machine.answered(667..<1000, to: 1).isWanted)
        _ = machine.received(1000, by: 1)
        _ = machine.ended(1)
        #expect(machine.next(for: 1, 1) == .ask(10..<667))
        #expect(!machine.isGivenUp)
        #expect(machine.broke(1, mayPass: false).delay == nil)
        #expect(machine.isGivenUp)
    }

    @Test func `a worker leaves after three failures without a byte, each delayed longer`() {
        var machine = Self.machine(2)
        var delays: [Duration?] = []
        for attempt in 0..<8 {
            #expect(machine.next(for: 1, 1) != .leave)
            if attempt == 2 {
                _ = machine.answered(500..<1000, to: 1)
                #expect(machine.received(1, by: 1).count == 1)
            }
            delays.append(machine.broke(1, mayPass: true).delay)
            if delays.last == .some(nil) { break }
        }
        let expected = [500, 1000, 500, 1000, 2000].map { Duration.milliseconds($0) as Duration? } + [nil]
        #expect(delays == expected)
        #expect(machine.next(for: 1, 1) == .leave)
    }

    @Test func `the bystanders are the workers that receive no bytes at present`() {
        var machine = Self.machine(4, minimum: 250)
        #expect(machine.unansweredWorkers == [1, 2, 3])
        #expect(machine.next(for: 1, 1) == .ask(750..<1000))
        #expect(machine.unansweredWorkers == [1, 2, 3], "what is asked for is not brought")
        _ = machine.answered(750..<1000, to: 1)
        #expect(machine.unansweredWorkers == [2, 3])
        _ = machine.received(750, by: 0)
        #expect(machine.unansweredWorkers == [2, 3], "who has come to its end still has that to do")
        _ = machine.ended(0)
        #expect(machine.unansweredWorkers == [0, 2, 3])
    }

    @Test func `an unanswered range is asked for again, and the first answer is taken`() {
        var machine = Self.machine(2, [0..<100, 200..<300], minimum: 100)
        #expect(machine.next(for: 1, 1) == .ask(200..<300))
        _ = machine.received(100, by: 0)
        #expect(machine.ended(0).isEmpty)
        // There is nothing else to do, and who has asked may be answered in a moment.
        #expect(machine.next(for: 0, 0) == .hesitate)
        #expect(machine.overtake(for: 0) == 200..<300)
        #expect(machine.unansweredWorkers == [0, 1])
        #expect(machine.answered(200..<300, to: 0).isWanted)
        #expect(!machine.answered(200..<300, to: 1).isWanted, "all of it is the other's now")
        #expect(machine.ended(1).isEmpty)
        #expect(machine.next(for: 1, 1) == .wait)
        #expect(machine.received(100, by: 0) == .init(count: 100, isEnd: true))
        #expect(machine.isComplete)
    }

    @Test func `the first worker keeps its range if its answer comes before the second's`() {
        var machine = Self.machine(3, [0..<100, 200..<300], minimum: 100)
        #expect(machine.next(for: 1, 1) == .ask(200..<300))
        _ = machine.received(100, by: 0)
        _ = machine.ended(0)
        #expect(machine.next(for: 0, 0) == .hesitate)
        #expect(machine.overtake(for: 0) == 200..<300)
        // Two ask for it already.
        #expect(machine.next(for: 2, 2) == .wait)
        #expect(machine.overtake(for: 2) == nil)
        #expect(machine.answered(200..<300, to: 1).isWanted)
        #expect(!machine.answered(200..<300, to: 0).isWanted)
        #expect(machine.received(100, by: 1).count == 100)
        #expect(machine.isComplete)
    }

    @Test func `the rest of a broken run that an unanswered worker asked for is asked for again`() {
        var machine = Self.machine(2)
        #expect(machine.next(for: 1, 1) == .ask(500..<1000))
        _ = machine.received(100, by: 0)
        _ = machine.broke(0, mayPass: true)
        #expect(machine.next(for: 0, 0) == .ask(100..<500))
        _ = machine.answered(100..<500, to: 0)
        _ = machine.received(400, by: 0)
        _ = machine.ended(0)
        // It is large enough to be shared at once, and what is left of it is asked for again.
        #expect(machine.next(for: 0, 0) == .ask(750..<1000))
        _ = machine.answered(750..<1000, to: 0)
        _ = machine.received(250, by: 0)
        _ = machine.ended(0)
        #expect(machine.next(for: 0, 0) == .ask(625..<750))
        _ = machine.answered(625..<750, to: 0)
        _ = machine.received(125, by: 0)
        _ = machine.ended(0)
        #expect(machine.next(for: 0, 0) == .hesitate)
        #expect(machine.overtake(for: 0) == 500..<625)
        #expect(machine.answered(500..<625, to: 0).isWanted)
        #expect(machine.received(125, by: 0) == .init(count: 125, isEnd: true))
        #expect(machine.isComplete)
    }

    @Test func `small answers and bodies that break early are accepted only a number of times`() {
        var machine = Self.machine(1, [0..<1 << 30], lead: 0..<1000)
        let asked = 1000..<1 << 30
        for _ in 0..<100 { #expect(machine.isTooSmall(1000..<1063, of: asked) == false) }
        #expect(machine.isTooSmall(1000..<1063, of: asked) == true)
        #expect(machine.isTooSmall(asked, of: asked) == false)
        #expect(machine.isTooSmall(0..<10, of: 0..<10) == false)
        #expect(machine.isTooSmall(0..<64, of: asked) == false)
        machine = Self.machine(1, [0..<1 << 30])
        var count = 0
        while machine.broke(0, mayPass: true).delay != nil {
            guard case .ask(let range) = machine.next(for: 0, 0) else { break }
            _ = machine.answered(range, to: 0)
            _ = machine.received(63, by: 0)
            count += 1
            if count > 200 { break }
        }
        #expect(count == 101)
    }

    @Test(arguments: [1, 2, 16], [1, 100, Int.max]) func `any length and any minimum can be shared among workers`(
        workers: Int, minimum: Int
    ) {
        for lead in [0..<Int.max, 0..<1] {
            var machine = Self.machine(workers, [0..<Int.max], lead: lead, minimum: minimum)
            #expect(machine.missing == .max)
            var steps: [SegmentMachine<Int>.Step] = []
            for worker in 1..<max(workers, 2) where worker < workers {
                steps.append(machine.next(for: worker, worker))
                if case .ask(let range) = steps[steps.count - 1] {
                    #expect(machine.answered(range, to: worker).isWanted)
                }
            }
            #expect(machine.received(.max, by: 0).count >= 1)
            _ = machine.ended(0)
            _ = machine.next(for: 0, 0)
            if minimum == .max, lead.count > 1 { #expect(steps.allSatisfy { $0 == .wait }) }
        }
        #expect(Machine.workers(workers, for: .max, minimum: minimum) == (minimum == .max ? 1 : workers))
    }

    @Test func `a file is cut into no more pieces than there is room for`() {
        var machine = Self.machine(8, minimum: 1, cuts: 3)
        #expect(machine.next(for: 1, 1) == .ask(875..<1000))
        #expect(machine.next(for: 2, 2) == .ask(750..<875))
        #expect(machine.next(for: 3, 3) == .wait)
    }
}

/// Servers that answer late, short, not at all, and break, at random; the same for the same seed.
@Suite struct `Segment machine, at random` {
    private struct Play {
        var machine: SegmentMachine<Int>
        var dice: SeededGenerator
        let length: Int
        /// Whether the server refuses most requests, and brings to its end what it answers.
        var isRefusing = false
        /// How often each byte was written.
        var written: [Int]
        var asked: [Int: Range<Int>] = [:]
        /// Where the next byte of a worker's answer lies, and where the answer ends.
        var flowing: [Int: Range<Int>] = [:]
        var waiting: Set<Int> = []
        /// Whoever the server never answers.
        var hung: [Int: Range<Int>] = [:]
        var left: Set<Int> = []

        mutating func wake(_ workers: [Int]) { waiting.subtract(workers) }

        mutating func ask(_ worker: Int) {
            switch machine.next(for: worker, worker) {
            case .ask(let range): asked[worker] = range
            case .wait: waiting.insert(worker)
            case .hesitate:
                guard dice.next(below: 3) > 0, let range = machine.overtake(for: worker) else { return }
                asked[worker] = range
            case .leave: left.insert(worker)
            }
        }

        mutating func answer(_ worker: Int, _ range: Range<Int>) {
            asked[worker] = nil
            switch dice.next(below: isRefusing ? 20 : 11) {
            case 11...: wake(machine.refused(worker))
            case 10: hung[worker] = range
            case 0: wake(machine.broke(worker, mayPass: !isRefusing).waiters)
            case 1: wake(dice.next(below: 4) == 0 ? machine.refused(worker) : machine.ended(worker))
            default:
                let isShort = dice.next(below: 5) == 0
                let end = isShort ? range.lowerBound + 1 + dice.next(below: range.count) : range.upperBound
                let (isWanted, waiters) = machine.answered(range.lowerBound..<end, to: worker)
                wake(waiters)
                if isWanted { flowing[worker] = range.lowerBound..<end } else { wake(machine.ended(worker)) }
            }
        }

        mutating func receive(_ worker: Int, _ rest: Range<Int>) {
            if !isRefusing, dice.next(below: 12) == 0 {
                flowing[worker] = nil
                wake(machine.broke(worker, mayPass: dice.next(below: 8) > 0).waiters)
                return
            }
            let count = min(rest.count, 1 + dice.next(below: 40))
            let taken = machine.received(count, by: worker)
            let start = rest.lowerBound + taken.skipped
            for byte in start..<start + taken.count { written[byte] += 1 }
            let left = start + taken.count..<rest.upperBound
            flowing[worker] = left
            if taken.isEnd || left.isEmpty {
                flowing[worker] = nil
                wake(machine.ended(worker))
            }
        }
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `random workers write every byte at most once and come to an end`(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        let (length, count) = (1 + dice.next(below: 3000), 1 + dice.next(below: 6))
        var rules = SegmentMachine<Int>.Rules()
        (rules.minimum, rules.cuts) = (1 + dice.next(below: 200), dice.next(below: 40))
        rules.smallPiece = dice.next(below: 100)
        // Some of it is there.
        var (gaps, missing): ([Range<Int>], Set<Int>) = ([], [])
        var end = dice.next(below: length)
        while end < length {
            let gap = end..<min(length, end + 1 + dice.next(below: 1000))
            gaps.append(gap)
            missing.formUnion(gap)
            end = gap.upperBound + 1 + dice.next(below: 300)
        }
        let first = gaps[0]
        let lead = dice.next(below: 4) == 0 ? first.prefix(1 + dice.next(below: first.count)) : first[...]
        var play = Play(
            machine: SegmentMachine(rules, workers: count, gaps: gaps, lead: lead.startIndex..<lead.endIndex),
            dice: dice, length: length, written: Array(repeating: 0, count: length))
        play.flowing[0] = lead.startIndex..<lead.endIndex
        try Self.run(&play, by: count)
        let counts = play.written.indices.filter { play.written[$0] != (missing.contains($0) ? 1 : 0) }
        if play.machine.isComplete {
            #expect(counts.isEmpty)
        } else {
            #expect(play.machine.isGivenUp)
            #expect(play.written.allSatisfy { $0 <= 1 })
            #expect(play.machine.missing == missing.count - play.written.reduce(0, +))
        }
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `one answer that is not broken brings every byte, whichever other requests are refused`(
        seed: UInt64
    ) throws {
        var dice = SeededGenerator(seed: seed)
        let (length, count) = (1 + dice.next(below: 3000), 2 + dice.next(below: 6))
        var rules = SegmentMachine<Int>.Rules()
        (rules.minimum, rules.smallPiece) = (1 + dice.next(below: 200), dice.next(below: 100))
        var play = Play(
            machine: SegmentMachine(rules, workers: count, gaps: [0..<length], lead: 0..<length), dice: dice,
            length: length, isRefusing: true, written: Array(repeating: 0, count: length))
        play.flowing[0] = 0..<length
        try Self.run(&play, by: count)
        #expect(play.machine.isComplete)
        #expect(play.written.allSatisfy { $0 == 1 })
    }

    private static func run(_ play: inout Play, by count: Int) throws {
        var steps = 0
        while play.left.count < count {
            steps += 1
            try #require(steps < 100_000, "it does not end")
            let ready = (0..<count).filter {
                !play.waiting.contains($0) && !play.left.contains($0) && play.hung[$0] == nil
            }
            if ready.isEmpty, let late = play.hung.keys.min() {
                play.answer(late, play.hung.removeValue(forKey: late) ?? 0..<1)
                continue
            }
            try #require(!ready.isEmpty, "all wait for each other")
            let worker = ready[play.dice.next(below: ready.count)]
            if let range = play.asked[worker] {
                play.answer(worker, range)
            } else if let rest = play.flowing[worker] {
                play.receive(worker, rest)
            } else {
                play.ask(worker)
            }
            // Who is left over when the last byte has come is stopped by the driver.
            if play.machine.isComplete { break }
        }
    }
}
