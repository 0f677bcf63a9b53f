import DunlinTesting
import LedgerRows
import Testing

@testable import DunlinImages

@Suite struct `The rules of a cache that purges itself` {
    typealias Machine = ImageCacheMachine<String, Int>

    private static func machine(_ capacity: Int, _ preferred: Int) throws -> Machine {
        try #require(Machine(capacity: capacity, preferred: preferred))
    }

    @Test(.rows("IC-15", "IC-3"), arguments: [(10, 10), (11, 6), (12, 7), (15, 10), (16, 6)])
    func `ten fit and six are left when one more comes`(added: Int, left: Int) throws {
        // 850 by 300 at a scale of 1.
        let bytes = 850 * 300 * 4
        var machine = try Self.machine(10 * bytes, 6 * bytes)
        for number in 0..<added { _ = machine.add(number, bytes: bytes, for: "\(number)") }
        #expect(machine.count == left)
        #expect(machine.usage == left * bytes)
        #expect(Set(machine.keys) == Set((added - left..<added).map { "\($0)" }))
    }

    @Test(.rows("IC-3")) func `a cache that is exactly full is not purged`() throws {
        var machine = try Self.machine(100, 50)
        for number in 0..<4 { _ = machine.add(number, bytes: 25, for: "\(number)") }
        #expect(machine.usage == 100)
        _ = machine.add(4, bytes: 1, for: "4")
        #expect(machine.usage == 26)
        #expect(Set(machine.keys) == ["3", "4"])
    }

    @Test(.rows("IC-5")) func `the image read last is evicted last`() throws {
        var machine = try Self.machine(30, 10)
        for number in 0..<3 { _ = machine.add(number, bytes: 10, for: "\(number)") }
        let first = machine.value(for: "0")
        #expect(first == 0)
        machine.purge()
        #expect(Array(machine.keys) == ["0"])
    }

    @Test(.rows("IC-4")) func `a picture in the place of another counts in its place`() throws {
        var machine = try Self.machine(100, 60)
        _ = machine.add(1, bytes: 40, for: "a")
        _ = machine.add(2, bytes: 40, for: "b")
        _ = machine.add(3, bytes: 10, for: "a")
        #expect(machine.usage == 50)
        _ = machine.add(4, bytes: 60, for: "c")
        // That of "a" is the newer of the two.
        #expect(Set(machine.keys) == ["c"])
        let (discarded, more) = (machine.takeDiscarded(), machine.takeDiscarded())
        #expect(discarded == [1, 2, 3])
        #expect(more.isEmpty)
    }

    @Test(.rows("IC-10")) func `an image larger than the capacity is refused and evicts no other`() throws {
        var machine = try Self.machine(100, 60)
        _ = machine.add(1, bytes: 70, for: "a")
        let other = machine.add(2, bytes: 101, for: "b")
        #expect(!other)
        #expect(Array(machine.keys) == ["a"])
        // It replaces what had its name all the same: that would be the wrong picture.
        let same = machine.add(3, bytes: 101, for: "a")
        #expect(!same)
        #expect(machine.count == 0)
        #expect(machine.usage == 0)
    }

    @Test(.rows("IC-2")) func `what is beside the images has the same limits as they, and takes none of their room`()
        throws
    {
        var machine = try Self.machine(100, 60)
        for number in 0..<5 { _ = machine.add(number, bytes: 20, beside: 20, for: "\(number)") }
        #expect(machine.usage == 100 && machine.beside == 100)
        _ = machine.add(5, bytes: 0, beside: 1, for: "5")
        #expect(machine.usage == 40 && machine.beside == 41)
        let isAdded = machine.add(6, bytes: 1, beside: 101, for: "6")
        #expect(!isAdded && machine.count == 3)
        _ = machine.removeAll()
        #expect(machine.beside == 0)
    }

    @Test func `a new image stays even if it is larger than the preferred usage`() throws {
        var machine = try Self.machine(100, 60)
        _ = machine.add(1, bytes: 50, for: "a")
        let isAdded = machine.add(2, bytes: 90, for: "b")
        #expect(isAdded)
        #expect(Array(machine.keys) == ["b"])
    }

    @Test(.rows("IC-14"), arguments: [(100, 101, false), (100, 100, true), (0, 0, true), (100, -1, false)])
    func `no more can be preferred than there is room for`(capacity: Int, preferred: Int, isPossible: Bool) {
        #expect((Machine(capacity: capacity, preferred: preferred) != nil) == isPossible)
    }

    @Test(.rows("IC-7")) func `removing says whether there was something`() throws {
        var machine = try Self.machine(100, 60)
        let nothing = machine.removeAll()
        #expect(!nothing)
        _ = machine.add(1, bytes: 1, for: "a")
        let (removed, again) = (machine.remove("a"), machine.remove("a"))
        #expect(removed)
        #expect(!again)
        _ = machine.add(1, bytes: 1, for: "a")
        let all = machine.removeAll()
        #expect(all)
        #expect(machine.usage == 0)
    }

    /// The same rules, written without any thought of speed.
    private struct Model {
        var entries: [(key: String, bytes: Int)] = []
        let capacity: Int
        let preferred: Int
        var usage: Int { entries.reduce(0) { $0 + $1.bytes } }

        mutating func add(_ key: String, _ bytes: Int) {
            entries.removeAll { $0.key == key }
            guard bytes <= capacity else { return }
            entries.append((key, bytes))
            if usage > capacity { while usage > preferred, entries.count > 1 { entries.removeFirst() } }
        }

        mutating func use(_ key: String) {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return }
            entries.append(entries.remove(at: index))
        }
    }

    @Test(arguments: 1...20) func `a cache of images does what a list in the order of use does`(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        var machine = try Self.machine(1000, chance.next(in: 0...1000))
        var model = Model(capacity: 1000, preferred: machine.preferred)
        for step in 0..<2000 {
            let key = "\(chance.next(below: 40))"
            switch chance.next(below: 10) {
            case 0..<5:
                let bytes = chance.next(in: 0...(chance.next(below: 20) == 0 ? 1200 : 200))
                _ = machine.add(step, bytes: bytes, for: key)
                model.add(key, bytes)
            case 5..<8:
                _ = machine.value(for: key)
                model.use(key)
            case 8:
                _ = machine.remove(key)
                model.entries.removeAll { $0.key == key }
            default:
                machine.purge()
                while model.usage > model.preferred { model.entries.removeFirst() }
            }
            try #require(machine.usage == model.usage, "step \(step)")
            try #require(Set(machine.keys) == Set(model.entries.map(\.key)), "step \(step)")
            #expect(machine.usage <= 1000)
        }
    }
}
