import DunlinTesting
import LedgerRows
import Testing

@testable import DunlinImages

@Suite struct `The queue of downloads` {
    private static func all(_ queue: ImageDownloadQueue) -> [UInt64] {
        var queue = queue
        var order: [UInt64] = []
        while let next = queue.next() { order.append(next) }
        return order
    }

    @Test(
        .rows("ID-15"),
        arguments: [
            (ImageDownloadQueue.Order.firstInFirstOut, [1, 2, 3, 4]), (.lastInFirstOut, [4, 3, 2, 1]),
        ] as [(ImageDownloadQueue.Order, [UInt64])])
    func `downloads of one priority run in the order of the queue`(
        order: ImageDownloadQueue.Order, expected: [UInt64]
    ) {
        var queue = ImageDownloadQueue(order)
        for id in 1...4 as ClosedRange<UInt64> { queue.add(id, 0) }
        #expect(Self.all(queue) == expected)
    }

    @Test(.rows("ID-15")) func `the highest priority goes first, also where it was changed`() {
        var queue = ImageDownloadQueue(.firstInFirstOut)
        for (id, priority) in [(1, 0), (2, 5), (3, -5), (4, 5)] as [(UInt64, Int)] { queue.add(id, priority) }
        #expect(Self.all(queue) == [2, 4, 1, 3])
        queue.change(3, to: 9)
        queue.change(2, to: -9)
        #expect(Self.all(queue) == [3, 4, 1, 2])
        // Back where it was among its equals.
        queue.change(2, to: 5)
        #expect(Self.all(queue) == [3, 2, 4, 1])
        let wasThere = queue.remove(2)
        #expect(wasThere)
        queue.putBack(2, 9)
        #expect(Self.all(queue) == [2, 3, 4, 1])
    }

    @Test(arguments: 1...10) func `the queue of downloads orders as sorting would`(seed: UInt64) throws {
        var chance = SeededGenerator(seed: seed)
        let order = seed % 2 == 0 ? ImageDownloadQueue.Order.firstInFirstOut : .lastInFirstOut
        var queue = ImageDownloadQueue(order)
        var model: [(id: UInt64, priority: Int, arrival: Int)] = []
        for step in 1...3000 {
            let index = model.isEmpty ? nil : chance.next(below: model.count)
            switch (chance.next(below: 8), index) {
            case (0..<3, _), (_, nil):
                let priority = chance.next(in: -3...3)
                queue.add(UInt64(step), priority)
                model.append((UInt64(step), priority, step))
            case (3..<6, let index?):
                model[index].priority = chance.next(in: -3...3)
                queue.change(model[index].id, to: model[index].priority)
            case (6, let index?):
                let wasThere = queue.remove(model.remove(at: index).id)
                #expect(wasThere)
            default:
                model.sort { one, other in
                    if one.priority != other.priority { return one.priority > other.priority }
                    return order == .firstInFirstOut ? one.arrival < other.arrival : one.arrival > other.arrival
                }
                let next = queue.next()
                try #require(next == model.removeFirst().id)
            }
            #expect(queue.count == model.count)
        }
    }
}
