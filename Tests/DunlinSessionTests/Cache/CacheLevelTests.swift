import DunlinSemantics
import DunlinTypes
import Testing

@testable import DunlinSession

/// What each level knows by itself.
@Suite struct `Cache levels` {
    private static let key = CachePlace.key("/a")

    private static func response(_ id: UInt64, _ body: Bytes = "body") -> StoredResponse {
        StoredResponse(
            entry: CachePlace.entry("/a", body.count), level: .disk, body: MemoryBody(body), id: id)
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
    func `memory never has what a change has replaced`(events: String, expected: [UInt64]?) {
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
        let tooLong = Self.response(2, CachePlace.bytes(9000))
        memory.endFinding(memory.beginFinding(Self.key), [Self.response(1)])
        #expect(Self.ids(&memory) == [1])
        memory.endChange(memory.beginChange(Self.key), [Self.response(1), tooLong])
        #expect(Self.ids(&memory) == nil)
        #expect(memory.cost == 0 && memory.keys == 0)
    }

    @Test func `removals are counted for what is on its way`() {
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

    // MARK: - The index of a folder

    private static func found(_ path: String, _ cost: Int, isUsed: Bool = false) throws -> DiskIndex.Found {
        DiskIndex.Found(name: try #require(CacheName(CachePlace.key(path))), cost: cost, isUsed: isUsed)
    }

    @Test func `what was changed while the folder was read is as it was changed`() throws {
        var index = DiskIndex(capacity: 1000)
        let (a, b, c, d) = (
            try Self.found("/a", 1), try Self.found("/b", 2), try Self.found("/c", 4), try Self.found("/d", 8)
        )
        for found in [a, b, c] { _ = index.put(found.name, cost: found.cost, isWritten: true) }
        let begins = [index.beginReading(), index.beginReading()]
        #expect(begins == [true, false])
        // The list has a and b, and d, which somebody else has stored; c is gone.
        index.remove(a.name)
        _ = index.put(b.name, cost: 16, isWritten: true)
        #expect(index.endReading([a, b, d]).isEmpty)
        #expect(Set(index.machine.names) == [b.name, d.name])
        #expect(index.machine.cost == 24)
        let again = index.beginReading()
        #expect(again)
        #expect(index.endReading(nil).isEmpty)
        #expect(index.machine.cost == 24)
    }

    @Test func `the folder is read again once a sixteenth of the capacity was written`() throws {
        var index = DiskIndex(capacity: 1600)
        let name = try Self.found("/a", 1).name
        _ = index.put(name, cost: 100, isWritten: true)
        _ = index.put(name, cost: 100, isWritten: false)
        #expect(!index.isReadingDue)
        _ = index.put(name, cost: 1, isWritten: true)
        #expect(index.isReadingDue)
        _ = index.beginReading()
        #expect(!index.isReadingDue)
        _ = index.endReading([])
        #expect(!index.isReadingDue)
    }

    @Test func `what others have stored counts, and the oldest that nobody used goes`() throws {
        var index = DiskIndex(capacity: 100)
        let used = try Self.found("/used", 40, isUsed: true)
        _ = index.beginReading()
        let thrown = index.endReading([used] + (try (0..<5).map { try Self.found("/\($0)", 20) }))
        #expect(thrown == (try (0..<2).map { try Self.found("/\($0)", 20).name }))
        #expect(index.machine.isUsed(used.name))
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
