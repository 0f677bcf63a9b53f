import DunlinTesting
import Testing

@testable import DunlinCache

@Suite struct `Eviction machine` {
    /// `+a10`: put in, `a`: used, `-a`: taken out; and what is thrown out in all.
    @Test(
        arguments: [
            (["+a40", "+b40", "+c40"], "a"),
            // What was used goes on into the long queue.
            (["+a40", "a", "+b40", "+c40"], "b"),
            // What comes next is what is new, for as long as that is over a tenth of the room.
            (["+a40", "a", "+b40", "b", "+c40", "+d40"], "cd"),
            // Then it is the long queue's turn: the first of it that was not used since.
            (["+a40", "a", "+b40", "b", "+c40", "+d10", "+e9", "d", "a", "+f10", "+g10"], "cef"),
            // Something thrown out that comes back stays.
            (["+a50", "+b50", "+c50", "+a50", "+d50", "+e50"], "abcd"),
            // What is too large is thrown out itself, and what had its name goes too.
            (["+a40", "+a101"], "a"),
            (["+a101", "+b100"], "a"),
            // It costs what was said last.
            (["+a90", "+a10", "+b80"], ""),
            (["+a40", "-a", "+b60", "+c40"], ""),
            (["+a0", "+b100", "+c0"], ""),
        ] as [([String], String)])
    func `new names that were not used again are evicted first`(steps: [String], thrown: String) {
        var machine = EvictionMachine<String, Void>(capacity: 100)
        var gone: [String] = []
        for step in steps {
            if step.hasPrefix("+") {
                gone += machine.put(String(step.dropFirst().prefix(1)), cost: Int(step.dropFirst(2)) ?? 0)
            } else if step.hasPrefix("-") {
                machine.remove(String(step.dropFirst()))
            } else {
                _ = machine.use(step)
            }
        }
        #expect(gone.joined() == thrown)
        #expect(machine.cost <= 100)
    }

    @Test func `a name keeps the value that was put last until it is evicted`() {
        var machine = EvictionMachine<String, Int>(capacity: 100)
        _ = machine.put("a", 1, cost: 40)
        #expect(machine.find("a")?.isFirstUse == true)
        #expect(machine.put("a", 2, cost: 40).isEmpty)
        #expect(machine.find("a")?.value == 2)
        #expect(machine.find("a")?.isFirstUse == false)
        // It moves to the long queue, with its value and its uses.
        #expect(machine.put("b", 3, cost: 40) + machine.put("c", 4, cost: 40) == ["b"])
        #expect(machine["a"] == 2)
        #expect(machine["b"] == nil)
        #expect(machine.put("a", 5, cost: 101) == ["a"])
        #expect(machine.find("a") == nil)
    }

    @Test func `a scan of any length does not evict names in use`() {
        var machine = EvictionMachine<Int, Void>(capacity: 10_000)
        for name in 0..<80 { _ = machine.put(name, cost: 100) }
        for name in 0..<80 { _ = machine.use(name) }
        var thrown: Set<Int> = []
        for name in 1000..<31_000 { thrown.formUnion(machine.put(name, cost: 100)) }
        #expect(thrown.allSatisfy { $0 >= 1000 })
        #expect(thrown.count > 29_000)
    }

    @Test func `names known as used survive another process's scan`() {
        var machine = EvictionMachine<Int, Void>(capacity: 10_000)
        for name in 0..<80 { _ = machine.put(name, cost: 100, isUsed: true) }
        var thrown: Set<Int> = []
        for name in 1000..<11_000 { thrown.formUnion(machine.put(name, cost: 100)) }
        #expect(thrown.allSatisfy { $0 >= 1000 })
    }

    @Test func `only the first use of a new name is reported as such`() {
        var machine = EvictionMachine<Int, Void>(capacity: 100)
        _ = machine.put(1, cost: 1)
        let uses = [1, 1, 2].map { machine.use($0) }
        #expect(uses == [true, false, false])
    }

    /// Against a plain list of what is in: whatever happens, the sums agree, and everything that is not in any more was
    /// either taken out or reported.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `nothing is lost or counted twice in any order of events`(seed: UInt64) {
        var dice = SeededGenerator(seed: seed)
        let capacity = 200 + dice.next(below: 2000)
        var machine = EvictionMachine<Int, Void>(capacity: capacity)
        var model: [Int: Int] = [:]
        for _ in 0..<5000 {
            let name = dice.next(below: 60)
            switch dice.next(below: 10) {
            case 0:
                let (removed, expected) = (machine.remove(name), model.removeValue(forKey: name))
                #expect(removed == expected)
            case 1...4:
                _ = machine.use(name)
            case 5 where dice.next(below: 200) == 0:
                machine.removeAll()
                model = [:]
            default:
                let cost = dice.next(below: 150)
                model[name] = cost
                for gone in machine.put(name, cost: cost) {
                    let known = model.removeValue(forKey: gone)
                    #expect(known != nil)
                }
            }
            #expect(machine.cost <= capacity)
            #expect(machine.cost == model.values.reduce(0, +))
            #expect(machine.count == model.count)
        }
        #expect(Set(machine.names) == Set(model.keys))
    }
}
