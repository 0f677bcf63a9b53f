/// What this process knows of what lies in a cache's folder, and how much room it takes up there.
///
/// Others write into the folder too, so this is no list of what can be found: that is asked of the folder. It decides
/// what is thrown out, and catches up with the others by reading the folder now and then.
///
/// Rules: what was changed while the folder was read is as it was changed, not as it was read. The folder is read again
/// once a sixteenth of the capacity was written here: as many processes as there are, each may be over it by so much.
struct DiskIndex {
    /// A name as it was found in the folder.
    struct Found: Sendable, Equatable {
        let name: CacheName
        let cost: Int
        let isUsed: Bool
    }

    private(set) var machine: EvictionMachine<CacheName>
    private var changed: Set<CacheName>?
    private var written = 0

    init(capacity: Int) {
        machine = EvictionMachine(capacity: capacity)
    }

    /// Files take up whole blocks of 4 KiB. No sum of such costs is too large for a number.
    static func cost(ofFile length: Int) -> Int { (min(length, 1 << 50) + 4095) / 4096 * 4096 }

    var isReadingDue: Bool { changed == nil && written > machine.capacity / 16 }

    /// What something costs that was written, or found. Returns what is to be thrown out for it.
    mutating func put(_ name: CacheName, cost: Int, isWritten: Bool) -> [CacheName] {
        changed?.insert(name)
        if isWritten { written += cost }
        return machine.put(name, cost: cost)
    }

    mutating func remove(_ name: CacheName) {
        changed?.insert(name)
        machine.remove(name)
    }

    /// Returns whether it is to be marked as used.
    mutating func use(_ name: CacheName) -> Bool { machine.use(name) }

    mutating func removeAll() {
        machine.removeAll()
        if changed != nil { changed = [] }
    }

    /// False if the folder is being read.
    mutating func beginReading() -> Bool {
        guard changed == nil else { return false }
        (changed, written) = ([], 0)
        return true
    }

    /// The folder was read; nil if that failed. What is there is listed in the order in which it came to be.
    mutating func endReading(_ found: [Found]?) -> [CacheName] {
        let changed = changed ?? []
        self.changed = nil
        guard let found else { return [] }
        let there = Set(found.lazy.map(\.name))
        for name in Array(machine.names) where !there.contains(name) && !changed.contains(name) { machine.remove(name) }
        return found.flatMap { found in
            changed.contains(found.name) ? [] : machine.put(found.name, cost: found.cost, isUsed: found.isUsed)
        }
    }
}
