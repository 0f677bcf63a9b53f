/// What this process knows of a cache's folder, and how much space each name takes.
///
/// Others write into the folder too, so what can be found is asked of the folder. This decides what is evicted, and
/// learns of others' changes by reading the folder now and then.
///
/// Rules:
/// 1. What this process stores or removes is noted at once, under the lock of its name. So what is counted is there,
///    except what others have removed since.
/// 2. A reading of a name is trusted only if this process has not changed the name since.
/// 3. An evicted name is no longer counted, though its files are removed later. Until then, finding them does not count
///    them again: they would evict others, and be gone all the same. A name stored again meanwhile stays.
/// 4. The folder is read again once a sixteenth of the capacity was written here, or turned out to be gone: each
///    process may exceed the capacity by that much. If a reading shows that nobody else has changed anything, the next
///    one waits twice as long, up to a quarter of the capacity.
struct DiskIndex {
    /// A name as found in the folder.
    struct Found: Sendable, Equatable {
        let name: CacheName
        let cost: Int
        let isUsed: Bool
    }

    /// What was known of a name when a search for it began.
    struct Stamp: Sendable {
        fileprivate let changes: UInt64
    }

    private(set) var machine: EvictionMachine<CacheName, Void>
    /// The evicted names whose files are still to be removed.
    private var leaving: Set<CacheName> = []
    /// The names changed during the current reading of the folder; nil if none is under way.
    private var changed: Set<CacheName>?
    /// Whether everything was removed during the current reading: then nothing that it found is trusted.
    private var isVoid = false
    /// How many bytes of the folder may have changed since it was read.
    private var drift = 0
    /// The fraction of the capacity that may have changed before the folder is read again: one by this number.
    private var share = 16
    /// Whether the current reading has found a change by others.
    private var hasOthers = false
    /// The number of changes to names, for names grouped by hash.
    private var changes = [UInt64](repeating: 0, count: 256)

    init(capacity: Int) {
        machine = EvictionMachine(capacity: capacity)
    }

    /// The cost of a file: files use whole blocks of 4 KiB. No sum of costs overflows.
    static func cost(ofFile length: Int) -> Int { (min(length, 1 << 50) + 4095) / 4096 * 4096 }

    var isReadingDue: Bool { changed == nil && drift > machine.capacity / share }

    /// Notes a use. Returns whether the file is to be marked as used.
    mutating func use(_ name: CacheName) -> Bool { machine.use(name) }

    // MARK: - What this process does

    /// Notes what was stored, and its cost. Returns the names to evict for it.
    mutating func stored(_ name: CacheName, cost: Int) -> [CacheName] {
        noteChange(name)
        leaving.remove(name)
        drift += cost
        return leave(machine.put(name, cost: cost))
    }

    /// Notes that a name's files are removed. `wasThere`: whether they were there until then.
    mutating func removed(_ name: CacheName, wasThere: Bool = true) {
        noteChange(name)
        leaving.remove(name)
        machine.remove(name)
        if !wasThere { noteGone(Self.cost(ofFile: 1)) }
    }

    /// Notes that everything is gone.
    mutating func removedAll() {
        for counter in changes.indices { changes[counter] += 1 }
        machine.removeAll()
        leaving = []
        isVoid = changed != nil
    }

    /// Whether an evicted name's files are still to be removed.
    func isLeaving(_ name: CacheName) -> Bool { leaving.contains(name) }

    /// Notes that an evicted name's files cannot be removed. It counts again once the folder is read.
    mutating func stays(_ name: CacheName) {
        leaving.remove(name)
    }

    private mutating func noteChange(_ name: CacheName) {
        changes[Self.counter(name)] += 1
        changed?.insert(name)
    }

    /// Notes that somebody else has removed something.
    private mutating func noteGone(_ cost: Int) {
        drift += cost
        share = 16
        if changed != nil { hasOthers = true }
    }

    private mutating func leave(_ names: [CacheName]) -> [CacheName] {
        leaving.formUnion(names)
        return names
    }

    // MARK: - What is found

    private static func counter(_ name: CacheName) -> Int { Int(name.words[0] & 255) }

    func beginFinding(_ name: CacheName) -> Stamp { Stamp(changes: changes[Self.counter(name)]) }

    private func isCurrent(_ stamp: Stamp, _ name: CacheName) -> Bool { changes[Self.counter(name)] == stamp.changes }

    /// Notes that a name is there, and its cost. Returns the names to evict for it.
    mutating func found(_ name: CacheName, cost: Int, _ stamp: Stamp) -> [CacheName] {
        guard isCurrent(stamp, name), !leaving.contains(name) else { return [] }
        changed?.insert(name)
        return leave(machine.put(name, cost: cost))
    }

    /// Notes that a name is not there.
    mutating func notFound(_ name: CacheName, _ stamp: Stamp) {
        guard isCurrent(stamp, name) else { return }
        changed?.insert(name)
        leaving.remove(name)
        if let cost = machine.remove(name) { noteGone(cost) }
    }

    // MARK: - Reading the folder

    /// Begins a reading of the folder; returns false if one is under way.
    mutating func beginReading() -> Bool {
        guard changed == nil else { return false }
        (changed, isVoid, drift, hasOthers) = ([], false, 0, false)
        return true
    }

    /// Notes names that are not in the folder.
    mutating func notRead(_ names: some Sequence<CacheName>) {
        guard let changed, !isVoid else { return }
        for name in names where !changed.contains(name) && machine.remove(name) != nil { hasOthers = true }
    }

    /// Notes names found in the folder, in order of creation. Returns the names to evict.
    mutating func read(_ found: some Sequence<Found>) -> [CacheName] {
        guard let changed, !isVoid else { return [] }
        var thrown: [CacheName] = []
        for found in found where !changed.contains(found.name) && !leaving.contains(found.name) {
            if machine.cost(of: found.name) == nil { hasOthers = true }
            thrown += leave(machine.put(found.name, cost: found.cost, isUsed: found.isUsed))
        }
        return thrown
    }

    mutating func endReading() {
        changed = nil
        share = hasOthers || isVoid ? 16 : max(4, share / 2)
        if isVoid { drift = machine.capacity }
    }
}
