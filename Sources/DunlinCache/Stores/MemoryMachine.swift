internal import DunlinSemantics
internal import DunlinTypes

/// The part of a cache that is in memory: for some keys, everything stored under them.
///
/// It must not know disks. Rules:
/// 1. A key here has everything that is stored under it, so an answer from memory is as good as one from the disk. It
///    is dropped before the disk changes.
/// 2. A reading of the disk is trusted only if the key was not being changed meanwhile: nothing read before a change
///    comes back after it.
/// 3. A removal voids what began before it: a response that was under way is not stored.
///
/// Keys share the counters for this; a key that shares one is merely dropped sooner.
struct MemoryMachine {
    /// A key's state when an operation begins.
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

    /// The longest body. Heads do not count, as the size of a kept head is unknown.
    private let longest: Int
    private var responses: EvictionMachine<CacheKey, [StoredResponse]>
    private var counters = [Counters](repeating: Counters(), count: 256)

    init(capacity: Int, longest: Int) {
        self.longest = longest
        responses = EvictionMachine(capacity: capacity)
    }

    var cost: Int { responses.cost }
    var keys: Int { responses.count }
    var evictions: Int { responses.evictions }
    var all: [StoredResponse] { responses.values.flatMap { $0 } }

    /// Returns what is stored under a key, and whether this is its first use; nil if it is not in memory.
    mutating func find(_ key: CacheKey) -> (responses: [StoredResponse], isFirstUse: Bool)? {
        responses.find(key).map { (responses: $0.value, isFirstUse: $0.isFirstUse) }
    }

    private func counter(_ key: CacheKey) -> Int { key.hashValue & 255 }

    /// The number of removals that may have included this key.
    func removals(_ key: CacheKey) -> UInt64 { counters[counter(key)].removals }

    /// By how much removing these keys raises that number.
    func removals(_ key: CacheKey, by keys: [CacheKey]) -> UInt64 {
        UInt64(keys.count { counter($0) == counter(key) })
    }

    // MARK: - In front of a disk

    mutating func beginChange(_ key: CacheKey, isRemoval: Bool = false) -> Stamp {
        let counter = counter(key)
        counters[counter].changes += 1
        if isRemoval { counters[counter].removals += 1 }
        counters[counter].running += 1
        forget(key)
        return Stamp(key: key, changes: counters[counter].changes, isAlone: counters[counter].running == 1)
    }

    /// Ends a change; `found` is nil if it is not known what is stored now.
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

    /// Changes what is stored under a key, without a disk. With `removals`, only if there were none since. Returns
    /// whether everything stored under it was kept.
    @discardableResult
    mutating func change(_ key: CacheKey, removals: UInt64? = nil, _ edit: (inout [StoredResponse]) -> Void) -> Bool {
        if let removals, removals != self.removals(key) { return false }
        var list = responses[key] ?? []
        edit(&list)
        return put(list, for: key)
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
        responses.removeAll()
    }

    // MARK: - Keeping

    private mutating func forget(_ key: CacheKey) {
        responses.remove(key)
    }

    /// Returns whether everything was kept.
    @discardableResult
    private mutating func put(_ list: [StoredResponse], for key: CacheKey) -> Bool {
        let list = list.suffix(CacheRecord.mostMembers)
        let kept = list.compactMap { Self.inMemory($0) }
        let cost = kept.reduce(0) { $0 + Self.cost($1) }
        guard !kept.isEmpty, kept.count == list.count, kept.allSatisfy({ $0.body.count <= longest }) else {
            forget(key)
            return false
        }
        return !responses.put(key, kept, cost: cost).contains(key)
    }

    /// Returns the response as kept in memory; nil for a body that is not in memory, which keeps the whole key out.
    private static func inMemory(_ response: StoredResponse) -> StoredResponse? {
        if response.level == .memory { return response }
        guard let bytes = response.body.bytes else { return nil }
        return StoredResponse(entry: response.entry, level: .memory, body: MemoryBody(bytes), id: response.id)
    }

    /// The cost of a response, with its objects and its places in tables and queues.
    private static func cost(_ response: StoredResponse) -> Int {
        response.body.count + response.entry.held + 1024
    }
}
