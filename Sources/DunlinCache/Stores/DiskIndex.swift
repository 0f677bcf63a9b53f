/// What this process knows of what lies in a cache's folder, and how much room it takes up there.
///
/// Others write into the folder too, so this is no list of what can be found: that is asked of the folder. It decides
/// what is thrown out, and catches up with the others by reading the folder now and then.
///
/// Rules:
/// 1. What this process stores or removes is known when it is done, under the lock of its name. So what counts is
///    there, but for what others have removed since.
/// 2. What was read of a name is believed only if this process has not changed it since: what was found before a change
///    does not count after it.
/// 3. What is thrown out is not counted from then on, though its files are removed later. Until they are, nobody who
///    finds them counts them again: they would push out others, and be gone all the same. If it is stored again
///    meanwhile, it is there to stay.
/// 4. The folder is read again once a sixteenth of the capacity was written here, or turned out to be gone: as many
///    processes as there are, each may be over it by so much.
struct DiskIndex {
    /// A name as it was found in the folder.
    struct Found: Sendable, Equatable {
        let name: CacheName
        let cost: Int
        let isUsed: Bool
    }

    /// What was known of a name when somebody began to look for it.
    struct Stamp: Sendable {
        fileprivate let changes: UInt64
    }

    private(set) var machine: EvictionMachine<CacheName>
    /// What was thrown out, and is still to be removed.
    private var leaving: Set<CacheName> = []
    /// What was changed while the folder is being read; nil if it is not.
    private var changed: Set<CacheName>?
    /// Whether everything was removed while the folder is being read: nothing of what was read is believed then.
    private var isVoid = false
    /// How much of the folder may be otherwise than it was when it was read.
    private var drift = 0
    /// How often names were changed that share a number.
    private var changes = [UInt64](repeating: 0, count: 256)

    init(capacity: Int) {
        machine = EvictionMachine(capacity: capacity)
    }

    /// Files take up whole blocks of 4 KiB. No sum of such costs is too large for a number.
    static func cost(ofFile length: Int) -> Int { (min(length, 1 << 50) + 4095) / 4096 * 4096 }

    var isReadingDue: Bool { changed == nil && drift > machine.capacity / 16 }

    /// Returns whether it is to be marked as used.
    mutating func use(_ name: CacheName) -> Bool { machine.use(name) }

    // MARK: - What this process does

    /// What something costs that was stored. Returns what is to be thrown out for it.
    mutating func stored(_ name: CacheName, cost: Int) -> [CacheName] {
        noteChange(name)
        leaving.remove(name)
        drift += cost
        return leave(machine.put(name, cost: cost))
    }

    /// Its files are removed. `wasThere`: they were there until then.
    mutating func removed(_ name: CacheName, wasThere: Bool = true) {
        noteChange(name)
        leaving.remove(name)
        machine.remove(name)
        if !wasThere { drift += Self.cost(ofFile: 1) }
    }

    /// Everything is gone.
    mutating func removedAll() {
        for counter in changes.indices { changes[counter] += 1 }
        machine.removeAll()
        leaving = []
        isVoid = changed != nil
    }

    /// Whether something that was thrown out is still to be removed.
    func isLeaving(_ name: CacheName) -> Bool { leaving.contains(name) }

    /// What was thrown out cannot be removed. It counts again once the folder is read.
    mutating func stays(_ name: CacheName) {
        leaving.remove(name)
    }

    private mutating func noteChange(_ name: CacheName) {
        changes[Self.counter(name)] += 1
        changed?.insert(name)
    }

    private mutating func leave(_ names: [CacheName]) -> [CacheName] {
        leaving.formUnion(names)
        return names
    }

    // MARK: - What is found

    private static func counter(_ name: CacheName) -> Int { Int(name.words[0] & 255) }

    func beginFinding(_ name: CacheName) -> Stamp { Stamp(changes: changes[Self.counter(name)]) }

    private func isCurrent(_ stamp: Stamp, _ name: CacheName) -> Bool { changes[Self.counter(name)] == stamp.changes }

    /// It is there, and costs so much. Returns what is to be thrown out for it.
    mutating func found(_ name: CacheName, cost: Int, _ stamp: Stamp) -> [CacheName] {
        guard isCurrent(stamp, name), !leaving.contains(name) else { return [] }
        changed?.insert(name)
        return leave(machine.put(name, cost: cost))
    }

    /// It is not there.
    mutating func notFound(_ name: CacheName, _ stamp: Stamp) {
        guard isCurrent(stamp, name) else { return }
        changed?.insert(name)
        leaving.remove(name)
        if let cost = machine.remove(name) { drift += cost }
    }

    // MARK: - Reading the folder

    /// False if it is being read.
    mutating func beginReading() -> Bool {
        guard changed == nil else { return false }
        (changed, isVoid, drift) = ([], false, 0)
        return true
    }

    /// These names are not among those in the folder.
    mutating func notRead(_ names: some Sequence<CacheName>) {
        guard let changed, !isVoid else { return }
        for name in names where !changed.contains(name) { machine.remove(name) }
    }

    /// These are, in the order in which they came to be. Returns what is to be thrown out.
    mutating func read(_ found: some Sequence<Found>) -> [CacheName] {
        guard let changed, !isVoid else { return [] }
        var thrown: [CacheName] = []
        for found in found where !changed.contains(found.name) && !leaving.contains(found.name) {
            thrown += leave(machine.put(found.name, cost: found.cost, isUsed: found.isUsed))
        }
        return thrown
    }

    mutating func endReading() {
        changed = nil
        if isVoid { drift = machine.capacity }
    }
}
