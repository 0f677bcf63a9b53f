import DunlinTesting
import Testing

@testable import DunlinTransport

@Suite struct `Waiter queue` {
    private static func queue(of count: UInt64) -> WaiterQueue<UInt64> {
        var queue = WaiterQueue<UInt64>()
        for number in 0..<count { queue.insert(number, number: number) }
        return queue
    }

    private static func rest(_ queue: WaiterQueue<UInt64>) -> [UInt64] {
        var queue = queue
        var rest: [UInt64] = []
        while let waiter = queue.popFirst() { rest.append(waiter) }
        return rest
    }

    @Test(arguments: [0, 1, 64, 65, 130, 1000] as [UInt64])
    func `a queue serves in order of arrival`(count: UInt64) {
        let queue = Self.queue(of: count)
        #expect(queue.count == Int(count))
        #expect(queue.isEmpty == (count == 0))
        #expect(Self.rest(queue) == Array(0..<count))
    }

    @Test(arguments: [[0], [4], [2], [0, 1, 2], [4, 3, 0], [0, 1, 2, 3, 4]] as [[UInt64]])
    func `a queue passes over those who left`(leavers: [UInt64]) {
        var queue = Self.queue(of: 5)
        for number in leavers {
            let left = [queue.leave(number), queue.leave(number)]
            #expect(left == [number, nil])
        }
        #expect(queue.count == 5 - leavers.count)
        #expect(Self.rest(queue) == (0..<5).filter { !leavers.contains($0) })
    }

    @Test(arguments: [false, true]) func `a queue gives back what a burst of waiters took`(areServed: Bool) {
        var queue = Self.queue(of: 10_000)
        for number in 0..<10_000 as Range<UInt64> { _ = areServed ? queue.popFirst() : queue.leave(number) }
        #expect(queue.isEmpty && queue.capacity <= 128)
        queue.insert(1, number: 10_000)
        #expect(queue.popFirst() == 1)
    }

    @Test func `a queue does not know who was served or never came`() {
        var queue = Self.queue(of: 2)
        let first = queue.popFirst()
        #expect(first == 0)
        let left = [0, 2, 99].map { queue.leave($0) }
        #expect(left == [nil, nil, nil])
        #expect(queue.count == 1)
    }

    @Test(arguments: [[0, 1, 2, 3, 4], [4, 0], [2, 1, 3], [0, 4, 2], [3]] as [[UInt64]])
    func `those who come back stand where they stood in the queue`(leavers: [UInt64]) {
        var queue = Self.queue(of: 5)
        for number in leavers { _ = queue.leave(number) }
        for number in leavers { queue.insert(number, number: number) }
        #expect(queue.count == 5)
        #expect(Self.rest(queue) == [0, 1, 2, 3, 4])
    }

    @Test func `one who was served already may stand first in the queue`() {
        var queue = Self.queue(of: 200)
        for _ in 0..<150 { _ = queue.popFirst() }
        for number in [7, 3, 149] as [UInt64] { queue.insert(number, number: number) }
        #expect(Self.rest(queue) == [3, 7, 149] + Array(150..<200))
    }

    /// Long enough for the front to be cut off many times over.
    @Test(arguments: [11, 12, 13] as [UInt64])
    func `the waiter queue agrees with a plain array over random operations`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = WaiterQueue<UInt64>()
        var model: [UInt64] = []
        for number in 0..<5000 as Range<UInt64> {
            switch UInt.random(in: 0..<11, using: &random) {
            case 0..<5:
                queue.insert(number, number: number)
                model.append(number)
            case 10:
                let back = UInt64.random(in: 0...number, using: &random)
                guard !model.contains(back) else { continue }
                queue.insert(back, number: back)
                model = (model + [back]).sorted()
            case 5..<8:
                let popped = queue.popFirst()
                #expect(popped == model.first)
                model = Array(model.dropFirst())
            default:
                let leaver = UInt64.random(in: 0...number, using: &random)
                let left = queue.leave(leaver)
                #expect(left == (model.contains(leaver) ? leaver : nil))
                model.removeAll { $0 == leaver }
            }
            #expect(queue.count == model.count)
            #expect(queue.isEmpty == model.isEmpty)
        }
        #expect(Self.rest(queue) == model)
    }
}
