import DunlinTesting
import Testing

@testable import DunlinCache

/// Numbers stand for responses, letters for keys, and words for work that waits.
@Suite struct `Store queue machine` {
    /// A machine, of which expectations can ask what changes it.
    private final class Play {
        private var machine: StoreQueueMachine<String, Int, String>

        init(capacity: Int) { machine = StoreQueueMachine(capacity: capacity) }

        var cost: Int { machine.cost }
        var count: Int { machine.count }
        var isWriting: Bool { machine.isWriting }

        func offer(_ number: Int, for key: String, cost: Int) -> StoreQueueMachine<String, Int, String>.Offer {
            machine.offer(number, for: key, cost: cost)
        }
        func follow(_ key: String, _ word: String) -> Bool { machine.follow(key, word) }
        func follow(_ word: String) -> Bool { machine.follow(word) }
        func drop(_ key: String) -> [Int] { machine.drop(key) }
        func dropAll() -> [Int] { machine.dropAll() }
        func done() { machine.done() }

        func next() -> String? {
            switch machine.next() {
            case .store(let number): "\(number)"
            case .work(let word): word
            case nil: nil
            }
        }

        /// What is done until there is nothing left.
        func rest() -> [String] {
            var names: [String] = []
            while let name = next() {
                names.append(name)
                done()
            }
            return names
        }
    }

    @Test func `what waits is written in the order in which it came, by one who is begun once`() {
        let machine = Play(capacity: 100)
        #expect(machine.offer(1, for: "a", cost: 1) == .begin)
        #expect(machine.offer(2, for: "b", cost: 1) == .wait)
        #expect(machine.offer(3, for: "a", cost: 1) == .wait)
        #expect(machine.count == 3 && machine.cost == 3)
        #expect(machine.rest() == ["1", "2", "3"])
        #expect(machine.count == 0 && machine.cost == 0 && !machine.isWriting)
        #expect(machine.offer(4, for: "a", cost: 1) == .begin)
    }

    @Test func `the bytes that wait or are being written have a limit, and the newest response beyond it is refused`() {
        let machine = Play(capacity: 10)
        #expect(machine.offer(1, for: "a", cost: 11) == .refused)
        #expect(machine.offer(1, for: "a", cost: 6) == .begin)
        #expect(machine.offer(2, for: "b", cost: 5) == .refused)
        #expect(machine.offer(3, for: "b", cost: 4) == .wait)
        _ = machine.next()
        // What is being written is still in memory.
        #expect(machine.cost == 10 && machine.offer(4, for: "c", cost: 1) == .refused)
        machine.done()
        #expect(machine.cost == 4 && machine.offer(5, for: "c", cost: 6) == .wait)
        #expect(machine.rest() == ["3", "5"])
    }

    @Test func `a lookup of a response that waits to be written comes right behind the write`() {
        let machine = Play(capacity: 100)
        for (number, key) in [(1, "a"), (2, "b"), (3, "c")] { _ = machine.offer(number, for: key, cost: 1) }
        #expect(!machine.follow("d", "find d"))
        #expect(machine.follow("c", "find c"))
        _ = machine.offer(4, for: "c", cost: 1)
        #expect(machine.rest() == ["3", "find c", "1", "2", "4"])
        #expect(!machine.follow("c", "find c"))
    }

    @Test func `a lookup of a response that is being written waits for the write`() {
        let machine = Play(capacity: 100)
        _ = machine.offer(1, for: "a", cost: 1)
        _ = machine.offer(2, for: "b", cost: 1)
        _ = machine.next()
        #expect(machine.follow("a", "find a"))
        machine.done()
        #expect(machine.rest() == ["find a", "2"])
    }

    @Test func `a key that is asked for again and again leaves turns to others`() {
        let machine = Play(capacity: 100)
        for (number, key) in [(1, "a"), (2, "b")] { _ = machine.offer(number, for: key, cost: 1) }
        for word in ["find a", "again"] { #expect(machine.follow("a", word)) }
        #expect(machine.follow("b", "find b"))
        #expect(machine.rest() == ["1", "2", "find a", "find b", "again"])
    }

    @Test func `what is removed before it was begun is not written, and who waits behind it is served`() {
        let machine = Play(capacity: 10)
        _ = machine.offer(1, for: "a", cost: 5)
        _ = machine.offer(2, for: "a", cost: 3)
        _ = machine.offer(3, for: "b", cost: 2)
        #expect(machine.follow("a", "find a"))
        #expect(machine.drop("a") == [1, 2])
        #expect(machine.drop("c").isEmpty)
        #expect(machine.cost == 2)
        #expect(machine.offer(4, for: "a", cost: 8) == .wait)
        #expect(machine.rest() == ["find a", "3", "4"])
    }

    @Test func `what is being written when everything is removed is left to the writer`() {
        let machine = Play(capacity: 10)
        for (number, key) in [(1, "a"), (2, "a"), (3, "b")] { _ = machine.offer(number, for: key, cost: 1) }
        _ = machine.next()
        #expect(Set(machine.dropAll()) == [2, 3])
        #expect(machine.count == 1)
        #expect(machine.follow("all gone"))
        machine.done()
        #expect(machine.rest() == ["all gone"])
        #expect(!machine.follow("all gone"))
    }

    @Test func `a wait for all writes does not include later ones`() {
        let machine = Play(capacity: 100)
        for (number, key) in [(1, "a"), (2, "b")] { _ = machine.offer(number, for: key, cost: 1) }
        #expect(machine.follow("written"))
        _ = machine.offer(3, for: "c", cost: 1)
        #expect(machine.follow("c", "find c"))
        #expect(machine.rest() == ["3", "find c", "1", "2", "written"])
        for (number, key) in [(1, "a"), (2, "b")] { _ = machine.offer(number, for: key, cost: 1) }
        #expect(machine.follow("written"))
        _ = machine.offer(3, for: "c", cost: 1)
        #expect(machine.rest() == ["1", "2", "written", "3"])
    }

    @Test func `in any order nothing is lost, done twice or done before what came before it of its key`() {
        for seed in 0..<300 as Range<UInt64> {
            var dice = SeededGenerator(seed: seed)
            let machine = Play(capacity: 40)
            var (wanted, done): ([String: [String]], [String: [String]]) = ([:], [:])
            var keys: [String: String] = [:]
            var number = 0
            var running: String?
            for _ in 0..<200 {
                let key = ["a", "b", "c", "d"][dice.next(below: 4)]
                number += 1
                switch dice.next(below: 8) {
                case 0..<3:
                    if machine.offer(number, for: key, cost: dice.next(below: 12)) != .refused {
                        wanted[key, default: []].append("\(number)")
                        keys["\(number)"] = key
                    }
                case 3:
                    if machine.follow(key, "w\(number)") {
                        wanted[key, default: []].append("w\(number)")
                        keys["w\(number)"] = key
                    }
                case 4:
                    let dropped = Set(machine.drop(key).map(String.init))
                    wanted[key]?.removeAll { dropped.contains($0) }
                default:
                    if let name = running {
                        done[keys[name] ?? "", default: []].append(name)
                        machine.done()
                        running = nil
                    } else {
                        running = machine.next()
                    }
                }
                #expect(0...40 ~= machine.cost)
            }
            if let name = running {
                done[keys[name] ?? "", default: []].append(name)
                machine.done()
            }
            for name in machine.rest() { done[keys[name] ?? "", default: []].append(name) }
            #expect(done.filter { !$0.value.isEmpty } == wanted.filter { !$0.value.isEmpty }, "seed \(seed)")
            #expect(machine.cost == 0 && machine.count == 0 && !machine.isWriting)
        }
    }
}
