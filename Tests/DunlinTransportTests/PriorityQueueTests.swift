import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite struct `Priority queue` {
    @Test func `an emptied queue of one priority does not block another`() {
        var queue = PriorityQueue<Int>()
        queue.append(1, priority: .low, number: 1)
        let served = [queue.popFirst(), queue.popFirst()]
        #expect(served == [1, nil])
        queue.append(2, priority: .high, number: 2)
        #expect(!queue.isEmpty)
        #expect(queue.first == .init(priority: .high, number: 2))
        queue.append(3, priority: .low, number: 3)
        let left = [queue.leave(2), queue.leave(2), queue.leave(9)]
        #expect(left == [2, nil, nil])
        #expect(queue.first == .init(priority: .low, number: 3))
    }

    @Test func `a request that gets another priority stands behind those of it that came before`() {
        var queue = PriorityQueue<Int>()
        for (number, priority) in [(1, .low), (2, .high), (3, .low), (4, .high), (5, .normal)]
            as [(UInt64, HTTP.Priority)]
        {
            queue.append(Int(number), priority: priority, number: number)
        }
        queue.move(3, to: .high)
        queue.move(2, to: .low)
        queue.move(5, to: .normal)
        queue.move(9, to: .high)
        let served = (0..<6).map { _ in queue.popFirst() }
        #expect(served == [3, 4, 5, 1, 2, nil])
    }

    @Test(arguments: [31, 32, 33] as [UInt64])
    func `the priority queue agrees with a sorted array over random operations`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = PriorityQueue<UInt64>()
        var model: [PriorityQueue<UInt64>.Position] = []
        for number in 0..<2000 as Range<UInt64> {
            switch UInt.random(in: 0..<13, using: &random) {
            case 10..<13:
                let mover = UInt64.random(in: 0...number, using: &random)
                let priority = HTTP.Priority(Int.random(in: -1...2, using: &random))
                queue.move(mover, to: priority)
                guard model.contains(where: { $0.number == mover }) else { continue }
                model.removeAll { $0.number == mover }
                model.append(.init(priority: priority, number: mover))
                model.sort()
            case 0..<5:
                let priority = HTTP.Priority(Int.random(in: -1...2, using: &random))
                queue.append(number, priority: priority, number: number)
                model.append(.init(priority: priority, number: number))
                model.sort()
            case 5..<9:
                let popped = queue.popFirst()
                #expect(popped == model.first?.number)
                model = Array(model.dropFirst())
            default:
                let leaver = UInt64.random(in: 0...number, using: &random)
                let left = queue.leave(leaver)
                #expect(left == (model.contains { $0.number == leaver } ? leaver : nil))
                model.removeAll { $0.number == leaver }
            }
            #expect(queue.first == model.first)
            #expect(queue.isEmpty == model.isEmpty)
        }
    }
}
