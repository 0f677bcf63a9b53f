import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Name cache machine` {
    private typealias Machine = NameCacheMachine<String>

    /// The machine on a clock of plain numbers, its answers as short texts: `?1` is a look-up to begin, numbered in
    /// order of appearance.
    private final class Driver {
        private var machine: Machine
        private var tickets: [String: Machine.Position] = [:]
        private var numbers: [UInt64] = []

        init(life: Int64 = 100, negative: Int64 = 10, capacity: Int = 3) {
            machine = Machine(limits: .init(timeToLive: life, negativeTimeToLive: negative, capacity: capacity))
        }

        var counts: [Int] { [machine.count, machine.lookUpCount] }

        func ask(_ host: String, _ waiter: String = "", at now: Int64, port: UInt16 = 80) -> String {
            let name = Machine.Name(host: host, port: port)
            switch machine.ask(name, at: HTTP.Instant(nanoseconds: now), { waiter }) {
            case .answer(let answer): return Self.text(answer)
            case .answerAndRefresh(let answer, let number): return "\(Self.text(answer)) ?\(ordinal(number))"
            case .wait(let waiter, let ticket):
                tickets[waiter] = ticket
                return "wait \(ordinal(ticket.lookUp))"
            case .lookUp(let waiter, let ticket):
                tickets[waiter] = ticket
                return "?\(ordinal(ticket.lookUp))"
            case .refuse: return "refuse"
            }
        }

        /// The look-up `number` ends.
        func end(_ number: Int, _ answer: NameAnswer, at now: Int64) -> [String] {
            switch machine.ended(numbers[number - 1], answer, at: HTTP.Instant(nanoseconds: now)) {
            case .deliver(let waiters): waiters
            case .again: ["again"]
            }
        }

        func leave(_ waiter: String) -> Bool { tickets[waiter].map { machine.leave($0) } ?? false }
        func flush() { machine.flush() }
        func close() -> [String] { machine.close() }

        private func ordinal(_ number: UInt64) -> Int {
            if !numbers.contains(number) { numbers.append(number) }
            return (numbers.firstIndex(of: number) ?? -1) + 1
        }

        private static func text(_ answer: NameAnswer) -> String {
            switch answer {
            case .addresses(let addresses): addresses.map(\.host).joined(separator: " ")
            case .noSuchName: "none"
            case .failed: "failed"
            case .ranOut: "ran out"
            }
        }
    }

    private static func found(_ last: UInt32) -> NameAnswer { .addresses([.v4(last, port: 80)]) }
    private static let missing = NameAnswer.noSuchName(ResolverError(.noSuchName, "none"))
    private static let failed = NameAnswer.failed(ResolverError(.overloaded, "full"))

    @Test func `the name cache looks a name up once for all who ask meanwhile, and remembers the answer`() {
        let cache = Driver()
        #expect(cache.ask("a", "1", at: 0) == "?1")
        #expect(cache.ask("a", "2", at: 1) == "wait 1")
        #expect(cache.ask("b", "3", at: 1) == "?2")
        #expect(cache.end(1, Self.found(7), at: 5) == ["1", "2"])
        #expect(cache.ask("a", at: 6) == "0.0.0.7")
        #expect(cache.ask("a", at: 6, port: 81) == "?3", "another port is another question")
        #expect(cache.end(2, Self.found(8), at: 6) == ["3"])
        #expect(cache.counts == [2, 1])
    }

    @Test func `an answer is given for its time to live, and asked for anew once in the last fifth of it`() {
        let cache = Driver()
        _ = cache.ask("a", at: 0)
        _ = cache.end(1, Self.found(1), at: 0)
        #expect(cache.ask("a", at: 79) == "0.0.0.1")
        #expect(cache.ask("a", at: 80) == "0.0.0.1 ?2")
        #expect(cache.ask("a", at: 81) == "0.0.0.1", "one refresh is enough")
        #expect(cache.end(2, Self.found(2), at: 90) == [])
        #expect(cache.ask("a", at: 91) == "0.0.0.2")
        #expect(cache.ask("a", at: 169) == "0.0.0.2", "a new life has begun at 90")
        #expect(cache.ask("a", at: 170) == "0.0.0.2 ?3")
        #expect(cache.ask("a", "w", at: 190) == "wait 3", "too old by now: the refresh serves as look-up")
        #expect(cache.end(3, Self.found(3), at: 191) == ["w"])
    }

    @Test(arguments: [(Self.failed, "0.0.0.1", "?3"), (Self.missing, "none", "none"), (.ranOut, "0.0.0.1", "?3")])
    func `a refresh that fails leaves the addresses until their end, unless the name is gone`(
        answer: NameAnswer, soon: String, late: String
    ) {
        let cache = Driver(negative: 50)
        _ = cache.ask("a", at: 0)
        _ = cache.end(1, Self.found(1), at: 0)
        #expect(cache.ask("a", at: 85) == "0.0.0.1 ?2")
        #expect(cache.end(2, answer, at: 86) == [])
        #expect(cache.ask("a", at: 99) == soon)
        #expect(cache.ask("a", at: 100) == late)
    }

    @Test func `the name cache remembers for a short time that there is no such name`() {
        let cache = Driver()
        _ = cache.ask("a", at: 0)
        #expect(cache.end(1, Self.missing, at: 0) == [""])
        #expect(cache.ask("a", at: 9) == "none", "no refresh either")
        #expect(cache.ask("a", at: 10) == "?2")
    }

    @Test(arguments: [
        (Self.failed, Int64(100), Int64(10)), (Self.missing, 100, 0), (Self.found(1), 0, 10),
    ])
    func `no other failure is remembered, and nothing is remembered for no time`(
        answer: NameAnswer, life: Int64, negative: Int64
    ) {
        let cache = Driver(life: life, negative: negative)
        #expect(cache.ask("a", "1", at: 0) == "?1")
        #expect(cache.ask("a", "2", at: 0) == "wait 1")
        #expect(cache.end(1, answer, at: 0) == ["1", "2"])
        #expect(cache.counts == [0, 0])
        #expect(cache.ask("a", at: 0) == "?2")
    }

    @Test func `the name cache forgets what was asked for longest ago`() {
        let cache = Driver(capacity: 2)
        for (number, name) in ["a", "b"].enumerated() {
            _ = cache.ask(name, at: 0)
            _ = cache.end(number + 1, Self.found(UInt32(number)), at: 0)
        }
        #expect(cache.ask("a", at: 1) == "0.0.0.0")
        _ = cache.ask("c", at: 2)
        _ = cache.end(3, Self.found(9), at: 2)
        #expect(cache.counts == [2, 0])
        #expect(cache.ask("a", at: 3) == "0.0.0.0")
        #expect(cache.ask("c", at: 3) == "0.0.0.9")
        #expect(cache.ask("b", at: 3) == "?4")
        #expect(Driver(capacity: 0).ask("a", at: 0) == "?1")
    }

    @Test func `a waiter who leaves takes nothing from the others, and the last one ends the look-up`() {
        let cache = Driver()
        _ = cache.ask("a", "1", at: 0)
        _ = cache.ask("a", "2", at: 0)
        #expect(!cache.leave("1"))
        #expect(cache.ask("a", "3", at: 0) == "wait 1")
        #expect(!cache.leave("2"))
        #expect(cache.leave("3"))
        #expect(cache.counts == [0, 0])
        #expect(!cache.leave("3"))
        #expect(cache.ask("a", "4", at: 1) == "?2", "what hung is not inherited")
        #expect(cache.end(1, Self.found(1), at: 2) == [], "too late")
        #expect(cache.ask("a", "5", at: 3) == "wait 2", "nor is its late answer kept")
        #expect(cache.end(2, Self.found(2), at: 4) == ["4", "5"])
    }

    @Test func `a waiter who leaves does not end a refresh`() {
        let cache = Driver()
        _ = cache.ask("a", at: 0)
        _ = cache.end(1, Self.found(1), at: 0)
        #expect(cache.ask("a", at: 99) == "0.0.0.1 ?2")
        #expect(cache.ask("a", "w", at: 100) == "wait 2")
        #expect(!cache.leave("w"))
        #expect(cache.end(2, Self.found(2), at: 101) == [])
        #expect(cache.ask("a", at: 102) == "0.0.0.2")
    }

    @Test func `a look-up that ran out of its time begins anew while somebody waits`() {
        let cache = Driver()
        _ = cache.ask("a", "1", at: 0)
        #expect(cache.end(1, .ranOut, at: 50) == ["again"])
        #expect(cache.ask("a", "2", at: 51) == "wait 1")
        #expect(cache.end(1, Self.found(1), at: 52) == ["1", "2"])
    }

    @Test func `a flush forgets answers, and those that are still to come`() {
        let cache = Driver()
        _ = cache.ask("a", at: 0)
        _ = cache.end(1, Self.found(1), at: 0)
        _ = cache.ask("b", "old", at: 0)
        cache.flush()
        #expect(cache.ask("a", "1", at: 1) == "?3")
        #expect(cache.ask("b", "new", at: 1) == "?4", "no sharing of an answer from before")
        #expect(cache.end(2, Self.found(2), at: 2) == ["old"])
        #expect(cache.ask("b", "newer", at: 3) == "wait 4")
        #expect(cache.end(4, Self.found(4), at: 4) == ["new", "newer"])
        #expect(cache.ask("b", at: 5) == "0.0.0.4")
    }

    @Test func `closing the name cache gives back who waits and refuses who comes`() {
        let cache = Driver()
        _ = cache.ask("a", "1", at: 0)
        _ = cache.ask("b", "2", at: 0)
        #expect(cache.close().sorted() == ["1", "2"])
        #expect(cache.ask("a", at: 1) == "refuse")
        #expect(cache.end(1, Self.found(1), at: 1) == [])
        #expect(cache.counts == [0, 0])
    }
}
