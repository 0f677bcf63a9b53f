import DunlinSemantics
import DunlinTypes
import Testing

@testable import DunlinCache

/// What each level knows by itself.
@Suite struct `Cache levels` {
    private static let key = TestCacheFolder.key("/a")

    private static func response(_ id: UInt64, _ body: Bytes = "body") -> StoredResponse {
        StoredResponse(
            entry: TestCacheFolder.entry("/a", body.count), level: .disk, body: MemoryBody(body), id: id)
    }

    private static func ids(_ memory: inout MemoryMachine) -> [UInt64]? { memory.find(key)?.responses.map(\.id) }

    /// `f1` a disk is asked and will say 1, `F` that is over; `c2` the key is changed to 2, `C` that is over; `r`, `R`
    /// the same for a removal. What is in memory then.
    @Test(
        arguments: [
            ("f1F", [1]),
            ("c2C", [2]),
            // A change forgets what there was, until it is over.
            ("f1Fc2", nil),
            ("f1Fc2C", [2]),
            // What was read before a change, or during one, does not come back after it.
            ("f1c2CF", [2]),
            ("f1c2FC", [2]),
            ("c2f1FC", [2]),
            ("c2f1CF", [2]),
            ("f1rRF", nil),
            ("rf1FR", nil),
            ("rf1RF", nil),
            // Of two changes at once nobody knows which came last.
            ("c1c2CC", nil),
            ("c1c2CCf3F", [3]),
            ("f1FrR", nil),
        ] as [(String, [UInt64]?)])
    func `memory never returns what a change has replaced`(events: String, expected: [UInt64]?) {
        var memory = MemoryMachine(capacity: 100_000, longest: 10_000)
        var findings: [(MemoryMachine.Stamp, UInt64)] = []
        var changes: [(MemoryMachine.Stamp, UInt64?)] = []
        let events = Array(events)
        for (index, event) in events.enumerated() {
            let id = index + 1 < events.count ? UInt64(String(events[index + 1])) ?? 0 : 0
            switch event {
            case "f": findings.append((memory.beginFinding(Self.key), id))
            case "F":
                let (stamp, id) = findings.removeFirst()
                memory.endFinding(stamp, [Self.response(id)])
            case "c": changes.append((memory.beginChange(Self.key), id))
            case "r": changes.append((memory.beginChange(Self.key, isRemoval: true), nil))
            case "C", "R":
                let (stamp, id) = changes.removeFirst()
                memory.endChange(stamp, id.map { [Self.response($0)] })
            default: break
            }
        }
        #expect(Self.ids(&memory) == expected)
    }

    @Test func `memory has all that is stored under a key, or nothing`() {
        var memory = MemoryMachine(capacity: 100_000, longest: 10_000)
        let tooLong = Self.response(2, TestCacheFolder.bytes(10_001))
        memory.endFinding(memory.beginFinding(Self.key), [Self.response(1)])
        #expect(Self.ids(&memory) == [1])
        memory.endChange(memory.beginChange(Self.key), [Self.response(1), tooLong])
        #expect(Self.ids(&memory) == nil)
        #expect(memory.cost == 0 && memory.keys == 0)
    }

    @Test func `the longest body is that of a response by itself, whatever its head and its other forms take up`() {
        var memory = MemoryMachine(capacity: 100_000, longest: 10_000)
        let (one, other) = (
            Self.response(1, TestCacheFolder.bytes(10_000)), Self.response(2, TestCacheFolder.bytes(10_000))
        )
        memory.endChange(memory.beginChange(Self.key), [one, other])
        #expect(Self.ids(&memory) == [1, 2])
        #expect(memory.cost > 20_000 && memory.cost < 26_000)
    }

    @Test func `removals are counted for responses under way`() {
        var memory = MemoryMachine(capacity: 100_000, longest: 10_000)
        let before = memory.removals(Self.key)
        memory.change(Self.key, removals: before) { $0.append(Self.response(1)) }
        #expect(Self.ids(&memory) == [1])
        memory.remove(Self.key)
        memory.change(Self.key, removals: before) { $0.append(Self.response(2)) }
        #expect(Self.ids(&memory) == nil)
        memory.removeAll()
        #expect(memory.removals(Self.key) == before + 2)
    }

    @Test(arguments: [
        (0, 0), (1, 9), (65_536, 65_544), (65_537, 65_553), (4 << 30, (4 << 30) + 65_536 * 8),
        (1 << 50, (1 << 50) + (1 << 37)),
    ])
    func `a body's file has a checksum for each block, however long it is`(count: Int, length: Int) {
        #expect(BodyBlocks.fileLength(of: count) == length)
        guard count > 0 else { return }
        let last = (count - 1) / BodyBlocks.size
        let range = BodyBlocks.range(of: last, in: count)
        #expect(range.upperBound == count)
        #expect(BodyBlocks.offset(of: last) + range.count + BodyBlocks.sumSize == length)
    }
}
