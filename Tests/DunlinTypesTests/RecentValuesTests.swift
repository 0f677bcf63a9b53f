import DunlinTesting
import DunlinTypes
import Testing

@Suite struct `Recent values` {
    @Test func `the least recently used value goes first`() {
        var values = RecentValues<String, Int>(limit: 2)
        values.keep(1, for: "a")
        values.keep(2, for: "b")
        #expect(values.use("a") == 1)
        values.keep(3, for: "c")
        #expect(values["b"] == nil)
        #expect(values.latestFirst.map(\.key) == ["c", "a"])
        #expect(values.first?.key == "a")
    }

    @Test func `looking at a value or changing it does not count as a use`() {
        var values = RecentValues<String, Int>(limit: 2)
        values.keep(1, for: "a")
        values.keep(2, for: "b")
        #expect(values["a"] == 1)
        values.change("a") { $0 += 10 }
        #expect(values.first?.key == "a" && values["a"] == 11)
        values.keep(3, for: "c")
        #expect(values["a"] == nil)
    }

    @Test func `keeping a value again counts as a use, and drops nothing`() {
        var values = RecentValues<String, Int>(limit: 2)
        values.keep(1, for: "a")
        values.keep(2, for: "b")
        values.keep(3, for: "a")
        #expect(values.latestFirst.map(\.value) == [3, 2])
    }

    @Test(arguments: [0, -1, .min])
    func `a limit of none keeps nothing`(limit: Int) {
        var values = RecentValues<Int, Int>(limit: limit)
        values.keep(1, for: 1)
        #expect(values.count == 0 && values.first == nil && values[1] == nil)
    }

    @Test func `an absent value is not used, changed or removed`() {
        var values = RecentValues<Int, Int>()
        #expect(values.use(1) == nil)
        #expect(values.remove(1) == nil)
        let changed = values.change(1) { _ in true }
        #expect(changed == nil && values.count == 0)
    }

    @Test func `a change that throws leaves the value as it then is`() {
        struct Refusal: Error {}
        var values = RecentValues<Int, Int>()
        values.keep(1, for: 1)
        #expect(throws: Refusal.self) {
            try values.change(1) { value in
                value = 2
                throw Refusal()
            }
        }
        #expect(values[1] == 2)
    }

    /// What is removed is let go of at once: a value that stayed in a gap would keep what it holds alive.
    @Test func `nothing holds what was removed or dropped`() {
        final class Held {}
        var values = RecentValues<Int, Held>(limit: 2)
        weak var dropped: Held?
        weak var removed: Held?
        do {
            let (first, second) = (Held(), Held())
            (dropped, removed) = (first, second)
            values.keep(first, for: 1)
            values.keep(second, for: 2)
            values.keep(Held(), for: 3)
        }
        #expect(dropped == nil && removed != nil)
        values.remove(2)
        #expect(removed == nil && values.count == 1)
    }

    /// Against an array in the order of use.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `recent values agree with a plain list over random operations`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var values = RecentValues<Int, Int>(limit: 8)
        var model: [(key: Int, value: Int)] = []
        for number in 0..<5000 {
            let key = Int.random(in: 0..<14, using: &random)
            let index = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                values.keep(number, for: key)
                if let index { model.remove(at: index) }
                model.append((key, number))
                if model.count > 8 { model.removeFirst() }
            case 8..<14:
                #expect(values.use(key) == index.map { model[$0].value })
                if let index { model.append(model.remove(at: index)) }
            case 14..<19:
                #expect(values.remove(key) == index.map { model.remove(at: $0).value })
            default:
                if number % 50 == 0 {
                    values.removeAll()
                    model = []
                }
            }
            #expect(values.latestFirst.map(\.key) == model.reversed().map(\.key))
            #expect(values.latestFirst.map(\.value) == model.reversed().map(\.value))
            #expect(values.first?.key == model.first?.key && values.count == model.count)
            #expect(Set(values.keys) == Set(model.map(\.key)))
        }
    }
}
