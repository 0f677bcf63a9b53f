import DunlinTesting
import Testing

@testable import DunlinTransport

@Suite struct `Waiting line` {
    private static func line(of count: UInt64) -> WaiterQueue<UInt64> {
        var line = WaiterQueue<UInt64>()
        for number in 0..<count { line.insert(number, number: number) }
        return line
    }

    private static func rest(_ line: WaiterQueue<UInt64>) -> [UInt64] {
        var line = line
        var rest: [UInt64] = []
        while let waiter = line.popFirst() { rest.append(waiter) }
        return rest
    }

    @Test(arguments: [0, 1, 64, 65, 130, 1000] as [UInt64])
    func `a line serves in order of arrival`(count: UInt64) {
        let line = Self.line(of: count)
        #expect(line.count == Int(count))
        #expect(line.isEmpty == (count == 0))
        #expect(Self.rest(line) == Array(0..<count))
    }

    @Test(arguments: [[0], [4], [2], [0, 1, 2], [4, 3, 0], [0, 1, 2, 3, 4]] as [[UInt64]])
    func `a line passes over those who left`(leavers: [UInt64]) {
        var line = Self.line(of: 5)
        for number in leavers {
            let left = [line.leave(number), line.leave(number)]
            #expect(left == [number, nil])
        }
        #expect(line.count == 5 - leavers.count)
        #expect(Self.rest(line) == (0..<5).filter { !leavers.contains($0) })
    }

    @Test func `a line does not know who was served or never came`() {
        var line = Self.line(of: 2)
        let first = line.popFirst()
        #expect(first == 0)
        let left = [0, 2, 99].map { line.leave($0) }
        #expect(left == [nil, nil, nil])
        #expect(line.count == 1)
    }

    @Test(arguments: [[0, 1, 2, 3, 4], [4, 0], [2, 1, 3], [0, 4, 2], [3]] as [[UInt64]])
    func `those who come back stand where they stood in the line`(leavers: [UInt64]) {
        var line = Self.line(of: 5)
        for number in leavers { _ = line.leave(number) }
        for number in leavers { line.insert(number, number: number) }
        #expect(line.count == 5)
        #expect(Self.rest(line) == [0, 1, 2, 3, 4])
    }

    @Test func `one who was served already may stand first in the line`() {
        var line = Self.line(of: 200)
        for _ in 0..<150 { _ = line.popFirst() }
        for number in [7, 3, 149] as [UInt64] { line.insert(number, number: number) }
        #expect(Self.rest(line) == [3, 7, 149] + Array(150..<200))
    }

    /// Long enough for the front to be cut off many times over.
    @Test(arguments: [11, 12, 13] as [UInt64])
    func `the waiting line agrees with a plain array over random operations`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var line = WaiterQueue<UInt64>()
        var model: [UInt64] = []
        for number in 0..<5000 as Range<UInt64> {
            switch UInt.random(in: 0..<11, using: &random) {
            case 0..<5:
                line.insert(number, number: number)
                model.append(number)
            case 10:
                let back = UInt64.random(in: 0...number, using: &random)
                guard !model.contains(back) else { continue }
                line.insert(back, number: back)
                model = (model + [back]).sorted()
            case 5..<8:
                let popped = line.popFirst()
                #expect(popped == model.first)
                model = Array(model.dropFirst())
            default:
                let leaver = UInt64.random(in: 0...number, using: &random)
                let left = line.leave(leaver)
                #expect(left == (model.contains(leaver) ? leaver : nil))
                model.removeAll { $0 == leaver }
            }
            #expect(line.count == model.count)
            #expect(line.isEmpty == model.isEmpty)
        }
        #expect(Self.rest(line) == model)
    }
}
