import DunlinTesting
import Testing

@testable import DunlinCache

/// What a process knows of a folder that others use as well.
@Suite struct `Disk index` {
    private static func found(_ path: String, _ cost: Int, isUsed: Bool = false) throws -> DiskIndex.Found {
        DiskIndex.Found(name: try #require(CacheName(TestCacheFolder.key(path))), cost: cost, isUsed: isUsed)
    }

    /// The names that are thrown out.
    private static func read(_ found: [DiskIndex.Found], _ index: inout DiskIndex) -> [CacheName] {
        let there = Set(found.map(\.name))
        index.notRead(Array(index.machine.names).filter { !there.contains($0) })
        defer { index.endReading() }
        return index.read(found)
    }

    @Test func `changes made while the folder is read are kept`() throws {
        var index = DiskIndex(capacity: 1000)
        let (a, b, c, d) = (
            try Self.found("/a", 1), try Self.found("/b", 2), try Self.found("/c", 4), try Self.found("/d", 8)
        )
        for found in [a, b, c] { _ = index.stored(found.name, cost: found.cost) }
        let begins = [index.beginReading(), index.beginReading()]
        #expect(begins == [true, false])
        // The list has a and b, and d, which somebody else has stored; c is gone.
        index.removed(a.name)
        _ = index.stored(b.name, cost: 16)
        #expect(Self.read([a, b, d], &index).isEmpty)
        #expect(Set(index.machine.names) == [b.name, d.name])
        #expect(index.machine.cost == 24)
        let again = index.beginReading()
        #expect(again)
        index.endReading()
        #expect(index.machine.cost == 24)
    }

    @Test func `the folder is read again once a sixteenth of the capacity was written, or is gone`() throws {
        var index = DiskIndex(capacity: 160_000)
        let name = try Self.found("/a", 1).name
        _ = index.stored(name, cost: 10_000)
        _ = index.found(name, cost: 10_000, index.beginFinding(name))
        #expect(!index.isReadingDue)
        _ = index.stored(name, cost: 1)
        #expect(index.isReadingDue)
        _ = index.beginReading()
        #expect(!index.isReadingDue)
        index.endReading()
        #expect(!index.isReadingDue)
        _ = index.stored(name, cost: 9000)
        index.notFound(name, index.beginFinding(name))
        #expect(index.isReadingDue)
        _ = index.beginReading()
        index.endReading()
        for _ in 0..<3 { index.removed(name, wasThere: false) }
        #expect(index.isReadingDue)
    }

    @Test func `the folder is read less often where nobody else changes it, down to a quarter of the capacity`() throws
    {
        var index = DiskIndex(capacity: 160_000)
        let (name, other) = (try Self.found("/a", 1).name, try Self.found("/b", 1))
        for limit in [10_000, 20_000, 40_000, 40_000] {
            _ = index.stored(name, cost: limit)
            #expect(!index.isReadingDue)
            _ = index.stored(name, cost: 1)
            #expect(index.isReadingDue)
            _ = index.beginReading()
            index.endReading()
        }
        // Somebody else has stored something, or removed it.
        _ = index.beginReading()
        _ = Self.read([other], &index)
        _ = index.stored(name, cost: 10_001)
        #expect(index.isReadingDue)
        _ = index.beginReading()
        index.endReading()
        index.notFound(other.name, index.beginFinding(other.name))
        _ = index.stored(name, cost: 10_001)
        #expect(index.isReadingDue)
    }

    @Test func `what others have stored counts, and the oldest that nobody used goes`() throws {
        var index = DiskIndex(capacity: 100)
        let used = try Self.found("/used", 40, isUsed: true)
        _ = index.beginReading()
        let thrown = Self.read([used] + (try (0..<5).map { try Self.found("/\($0)", 20) }), &index)
        #expect(thrown == (try (0..<2).map { try Self.found("/\($0)", 20).name }))
        #expect(index.machine.isUsed(used.name))
    }

    @Test func `an evicted name that is still there does not count until it is stored again`() throws {
        var index = DiskIndex(capacity: 100)
        let all = try (0..<8).map { try Self.found("/\($0)", 20) }
        _ = index.beginReading()
        let thrown = Self.read(all, &index)
        #expect(thrown == all.prefix(3).map(\.name))
        // A later reading finds it, and so do those who ask for it.
        _ = index.beginReading()
        #expect(Self.read(all, &index).isEmpty)
        #expect(index.found(thrown[0], cost: 20, index.beginFinding(thrown[0])).isEmpty)
        #expect(Set(index.machine.names) == Set(all.dropFirst(3).map(\.name)))
        #expect(index.isLeaving(thrown[0]))
        #expect(index.stored(thrown[0], cost: 20) == [all[3].name])
        #expect(!index.isLeaving(thrown[0]) && index.isLeaving(thrown[1]))
        #expect(index.machine.evictions == 4)
        // What cannot be removed counts again once the folder is read.
        index.stays(thrown[1])
        _ = index.beginReading()
        #expect(Self.read([all[1]] + all[4...] + [all[0]], &index).count == 1)
    }

    @Test func `an index that was read before everything was removed does not count`() throws {
        var index = DiskIndex(capacity: 1000)
        _ = index.beginReading()
        index.removedAll()
        #expect(Self.read([try Self.found("/a", 1)], &index).isEmpty)
        #expect(index.machine.count == 0 && index.isReadingDue)
    }

    // MARK: - In any order

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `an index counts only files that are there, and evicts nothing while there is room`(seed: UInt64) {
        var model = FolderModel(seed, processes: 1)
        for _ in 0..<3000 {
            model.step()
            let process = model.processes[0]
            for name in process.index.machine.names {
                #expect(model.folder[name] == process.index.machine.cost(of: name))
            }
        }
        model.rest()
        #expect(model.thrownEarly == 0)
        #expect(model.faults().isEmpty)
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>, [2, 3])
    func `each of several processes counts what is there once it has read the folder`(seed: UInt64, processes: Int) {
        var model = FolderModel(seed, processes: processes)
        for _ in 0..<3000 { model.step() }
        model.rest()
        #expect(model.faults().isEmpty)
    }
}

/// A folder, and processes that use it at once: what each of them begins and what it ends come in any order.
private struct FolderModel {
    struct Process {
        enum Reading {
            case listing([CacheName], found: [DiskIndex.Found])
            case comparing([CacheName], found: [DiskIndex.Found])
            case adding([DiskIndex.Found])
        }

        var index: DiskIndex
        var thrown: [CacheName] = []
        var findings: [(name: CacheName, stamp: DiskIndex.Stamp, cost: Int?)] = []
        var reading: Reading?
    }

    private static let names = (0..<60).compactMap { CacheName(TestCacheFolder.key("/\($0)")) }

    private let capacity: Int
    private var dice: SeededGenerator
    private(set) var folder: [CacheName: Int] = [:]
    private(set) var processes: [Process]
    /// How many entries there ever were.
    private var entries = 0
    /// How often something was thrown out that there was room for.
    private(set) var thrownEarly = 0

    init(_ seed: UInt64, processes count: Int) {
        dice = SeededGenerator(seed: seed)
        capacity = 4096 * (5 + dice.next(below: 30))
        processes = [Process](repeating: Process(index: DiskIndex(capacity: capacity)), count: count)
        for name in Self.names where dice.next(below: 2) == 0 { folder[name] = cost() }
        entries = folder.count
    }

    private mutating func cost() -> Int { 4096 * (1 + dice.next(below: 3)) }

    private mutating func name() -> CacheName { Self.names[dice.next(below: Self.names.count)] }

    mutating func step() {
        let number = dice.next(below: processes.count)
        switch dice.next(below: 20) {
        case 0..<4: store(number)
        case 4: remove(name(), number)
        case 5..<8:
            let name = name()
            processes[number].findings.append((name, processes[number].index.beginFinding(name), folder[name]))
        case 8..<11: endFinding(number)
        case 11..<14: removeThrown(number)
        case 14..<19: read(number)
        default:
            guard dice.next(below: 40) == 0 else { return }
            folder = [:]
            processes[number].index.removedAll()
        }
    }

    /// Everything that was begun ends, and each has read the folder since the others have changed it.
    mutating func rest() {
        for _ in 0..<3 {
            for number in processes.indices {
                while !processes[number].findings.isEmpty { endFinding(number) }
                repeat { read(number) } while processes[number].reading != nil
                read(number)
                while processes[number].reading != nil { read(number) }
                while !processes[number].thrown.isEmpty { removeThrown(number) }
            }
        }
    }

    /// What is not as it should be when nothing is under way.
    func faults() -> [String] {
        processes.flatMap { process in
            let machine = process.index.machine
            var faults: [String] = []
            if Set(machine.names) != Set(folder.keys) { faults.append("\(machine.count) of \(folder.count)") }
            let cost = folder.values.reduce(0, +)
            if machine.cost != cost || cost > capacity { faults.append("\(machine.cost) of \(cost)") }
            if machine.evictions > entries { faults.append("\(machine.evictions) of \(entries) thrown out") }
            return faults
        }
    }

    // MARK: - Steps

    private mutating func throwOut(_ number: Int, _ change: (inout DiskIndex) -> [CacheName]) {
        let thrown = change(&processes[number].index)
        if thrown.isEmpty { return }
        let index = processes[number].index
        // What was there to stay until now.
        let stayed = folder.filter { !index.isLeaving($0.key) || thrown.contains($0.key) }
        if stayed.values.reduce(0, +) <= capacity { thrownEarly += 1 }
        processes[number].thrown += thrown
    }

    private mutating func store(_ number: Int) {
        let (name, cost) = (name(), cost())
        folder[name] = cost
        entries += 1
        throwOut(number) { $0.stored(name, cost: cost) }
    }

    private mutating func remove(_ name: CacheName, _ number: Int) {
        let wasThere = folder.removeValue(forKey: name) != nil
        processes[number].index.removed(name, wasThere: wasThere)
    }

    private mutating func endFinding(_ number: Int) {
        let count = processes[number].findings.count
        guard count > 0 else { return }
        let finding = processes[number].findings.remove(at: dice.next(below: count))
        if let cost = finding.cost {
            throwOut(number) { $0.found(finding.name, cost: cost, finding.stamp) }
        } else {
            processes[number].index.notFound(finding.name, finding.stamp)
        }
    }

    private mutating func removeThrown(_ number: Int) {
        let count = processes[number].thrown.count
        guard count > 0 else { return }
        let name = processes[number].thrown.remove(at: dice.next(below: count))
        if processes[number].index.isLeaving(name) { remove(name, number) }
    }

    private mutating func read(_ number: Int) {
        let size = 1 + dice.next(below: 10)
        switch processes[number].reading {
        case nil:
            guard processes[number].index.beginReading() else { return }
            processes[number].reading = .listing(Array(folder.keys), found: [])
        case .listing(let names, var found):
            for name in names.prefix(size) {
                guard let cost = folder[name] else { continue }
                found.append(DiskIndex.Found(name: name, cost: cost, isUsed: dice.next(below: 4) == 0))
            }
            let rest = Array(names.dropFirst(size))
            processes[number].reading = .listing(rest, found: found)
            if !rest.isEmpty { return }
            let there = Set(found.map(\.name))
            let gone = processes[number].index.machine.names.filter { !there.contains($0) }
            processes[number].reading = .comparing(gone, found: found)
        case .comparing(let gone, let found):
            processes[number].index.notRead(gone.prefix(size))
            let rest = Array(gone.dropFirst(size))
            processes[number].reading = rest.isEmpty ? .adding(found) : .comparing(rest, found: found)
        case .adding(let found):
            throwOut(number) { $0.read(found.prefix(size)) }
            let rest = Array(found.dropFirst(size))
            processes[number].reading = rest.isEmpty ? nil : .adding(rest)
            if rest.isEmpty { processes[number].index.endReading() }
        }
    }
}
