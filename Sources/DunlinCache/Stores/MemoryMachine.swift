internal import DunlinSemantics
internal import DunlinTypes

/// What of a cache is in memory: for some keys, all that is stored under them.
///
/// It must not know disks. Rules:
/// 1. What is here of a key is everything that is stored under it, so that an answer from here is never worse than one
///    from the disk. It is forgotten before something is changed on the disk.
/// 2. What a disk has said is believed only if nothing of that key was being changed meanwhile: what was read before a
///    change does not come back after it.
/// 3. A removal makes what was begun before it void: a response that was on its way meanwhile is not stored.
///
/// Keys share the counters that this is decided by; a key that is taken for another is only forgotten sooner.
struct MemoryMachine {
    /// What is known of a key's state when something begins.
    struct Stamp: Sendable {
        fileprivate let key: CacheKey
        fileprivate let changes: UInt64
        fileprivate let isAlone: Bool
    }

    private struct Counters {
        var changes: UInt64 = 0
        var removals: UInt64 = 0
        var running = 0
    }

    /// The longest body. Heads do not count in it, for nobody can tell how much of one is kept.
    private let longest: Int
    private var eviction: EvictionMachine<CacheKey>
    private var responses: [CacheKey: [StoredResponse]] = [:]
    private var counters = [Counters](repeating: Counters(), count: 256)

    init(capacity: Int, longest: Int) {
        self.longest = longest
        eviction = EvictionMachine(capacity: capacity)
    }

    var cost: Int { eviction.cost }
    var keys: Int { responses.count }
    var evictions: Int { eviction.evictions }
    var all: [StoredResponse] { responses.values.flatMap { $0 } }

    /// What is stored under a key, and whether it is the first time that this is asked; nil if it is not here.
    mutating func find(_ key: CacheKey) -> (responses: [StoredResponse], isFirstUse: Bool)? {
        guard let found = responses[key] else { return nil }
        return (found, eviction.use(key))
    }

    private func counter(_ key: CacheKey) -> Int { key.hashValue & 255 }

    /// How often something was removed that this key may have been among.
    func removals(_ key: CacheKey) -> UInt64 { counters[counter(key)].removals }

    // MARK: - In front of a disk

    mutating func beginChange(_ key: CacheKey, isRemoval: Bool = false) -> Stamp {
        let counter = counter(key)
        counters[counter].changes += 1
        if isRemoval { counters[counter].removals += 1 }
        counters[counter].running += 1
        forget(key)
        return Stamp(key: key, changes: counters[counter].changes, isAlone: counters[counter].running == 1)
    }

    /// Nil if it is not known what is stored now.
    mutating func endChange(_ stamp: Stamp, _ found: [StoredResponse]?) {
        counters[counter(stamp.key)].running -= 1
        if let found { put(found, stamp) }
    }

    func beginFinding(_ key: CacheKey) -> Stamp {
        let counters = counters[counter(key)]
        return Stamp(key: key, changes: counters.changes, isAlone: counters.running == 0)
    }

    mutating func endFinding(_ stamp: Stamp, _ found: [StoredResponse]) {
        if !found.isEmpty { put(found, stamp) }
    }

    private mutating func put(_ found: [StoredResponse], _ stamp: Stamp) {
        guard stamp.isAlone, counters[counter(stamp.key)].changes == stamp.changes else { return }
        put(found, for: stamp.key)
    }

    // MARK: - Alone

    /// Changes what is stored under a key where there is no disk. With `removals`, only if there were none since.
    /// Returns whether everything that is stored under it from now on was kept.
    @discardableResult
    mutating func change(_ key: CacheKey, removals: UInt64? = nil, _ edit: (inout [StoredResponse]) -> Void) -> Bool {
        if let removals, removals != self.removals(key) { return false }
        var list = responses[key] ?? []
        edit(&list)
        put(list, for: key)
        return responses[key] != nil
    }

    mutating func remove(_ key: CacheKey) {
        counters[counter(key)].removals += 1
        forget(key)
    }

    mutating func removeAll() {
        for counter in counters.indices {
            counters[counter].changes += 1
            counters[counter].removals += 1
        }
        responses = [:]
        eviction.removeAll()
    }

    // MARK: - Keeping

    private mutating func forget(_ key: CacheKey) {
        if responses.removeValue(forKey: key) != nil { eviction.remove(key) }
    }

    private mutating func put(_ list: [StoredResponse], for key: CacheKey) {
        let list = list.suffix(CacheRecord.mostMembers)
        let kept = list.compactMap { Self.inMemory($0) }
        let cost = kept.reduce(0) { $0 + Self.cost($1) }
        guard !kept.isEmpty, kept.count == list.count, kept.allSatisfy({ $0.body.count <= longest }) else {
            return forget(key)
        }
        responses[key] = kept
        for key in eviction.put(key, cost: cost) { responses[key] = nil }
    }

    /// Nil for a body that is not in memory: then nothing of its key is.
    private static func inMemory(_ response: StoredResponse) -> StoredResponse? {
        if response.level == .memory { return response }
        guard let bytes = response.body.bytes else { return nil }
        return StoredResponse(entry: response.entry, level: .memory, body: MemoryBody(bytes), id: response.id)
    }

    /// With the objects that have it, and its places in tables and queues.
    private static func cost(_ response: StoredResponse) -> Int {
        response.body.count + response.entry.held + 1024
    }
}
