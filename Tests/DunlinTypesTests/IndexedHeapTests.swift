import DunlinTesting
import DunlinTypes
import Testing

@Suite struct `Indexed heap` {
    private final class Count {
        var comparisons = 0
    }

    private struct Item: HeapItem {
        typealias Indices = [String: Int]
        let name: String
        var rank: Int
        let count: Count

        func precedes(_ other: Item) -> Bool {
            count.comparisons += 1
            return rank < other.rank
        }
    }

    @Test func `an empty heap has nothing to give`() {
        var heap = IndexedHeap<Item>()
        #expect(heap.popFirst() == nil && heap.first == nil && heap["a"] == nil && heap.remove("a") == nil)
        let changed = heap.change("a") { _ in true }
        #expect(changed == nil && heap.count == 0)
    }

    /// Against a dictionary.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the heap agrees with a plain table over random operations`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Count()
        var heap = IndexedHeap<Item>()
        var model: [String: Int] = [:]
        for _ in 0..<5000 {
            let name = "\(Int.random(in: 0..<40, using: &random))"
            let rank = Int.random(in: 0..<30, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                if model[name] == nil {
                    heap.add(Item(name: name, rank: rank, count: count))
                } else {
                    heap.change(name) { $0.rank = rank }
                }
                model[name] = rank
            case 5..<8:
                #expect(heap.remove(name)?.rank == model.removeValue(forKey: name))
            default:
                let popped = heap.popFirst()
                #expect(popped?.rank == model.values.min())
                if let popped { #expect(model.removeValue(forKey: popped.name) == popped.rank) }
            }
            #expect(heap.count == model.count)
            #expect(heap.first?.rank == model.values.min())
            #expect(heap[name]?.rank == model[name])
        }
    }

    @Test func `each step compares no more items than twice the logarithm of their number`() {
        var random = SeededGenerator(seed: 7)
        let (count, most) = (Count(), 4096)
        var heap = IndexedHeap<Item>()
        for index in 0..<most {
            count.comparisons = 0
            heap.add(Item(name: "\(index)", rank: most - index, count: count))
            #expect(count.comparisons <= 13)
        }
        for _ in 0..<most {
            count.comparisons = 0
            heap.change("\(Int.random(in: 0..<most, using: &random))") { $0.rank = -$0.rank }
            #expect(count.comparisons <= 26)
        }
        for _ in 0..<most {
            count.comparisons = 0
            heap.popFirst()
            #expect(count.comparisons <= 26)
        }
    }
}
