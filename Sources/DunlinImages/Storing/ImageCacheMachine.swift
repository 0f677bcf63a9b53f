internal import Dunlin

/// The rules of a cache that purges itself.
///
/// Entries are counted in bytes, and what is kept beside them by itself; both sums have the same limits. When a new
/// entry exceeds `capacity`, the least recently used ones are removed until at most `preferred` bytes are left; the new
/// entry stays. An entry larger than the capacity is refused and displaces nothing.
///
/// It knows no pictures. Removed values are kept in `discarded`, so that the driver can release them outside its lock.
struct ImageCacheMachine<Key: Hashable, Value> {
    struct Entry {
        var value: Value
        var bytes: Int
        var beside: Int
    }

    let capacity: Int
    let preferred: Int
    private(set) var usage = 0
    /// The bytes kept beside the entries' own.
    private(set) var beside = 0
    private var entries = RecentValues<Key, Entry>()
    private var discarded: [Value] = []

    /// Creates a machine; nil if the preferred size is negative or larger than the capacity.
    init?(capacity: Int, preferred: Int) {
        guard preferred >= 0, preferred <= capacity else { return nil }
        self.init(capacity: capacity, keeping: preferred)
    }

    /// Creates a machine with sizes that are known to be valid; if they are not, the smaller one counts for both.
    init(capacity: Int, keeping preferred: Int) {
        (self.capacity, self.preferred) = (capacity, min(capacity, preferred))
    }

    var count: Int { entries.count }
    var keys: some Collection<Key> { entries.keys }

    /// Adds a value. Returns false if it is larger than the capacity. In any case the key's former value is removed.
    mutating func add(_ value: Value, bytes: Int, beside: Int = 0, for key: Key) -> Bool {
        _ = remove(key)
        guard bytes >= 0, max(bytes, beside) <= capacity else { return false }
        entries.keep(Entry(value: value, bytes: bytes, beside: beside), for: key)
        usage += bytes
        self.beside += beside
        if max(usage, self.beside) > capacity { purge(keeping: 1) }
        return true
    }

    /// Looks up a value, which counts as a use.
    mutating func value(for key: Key) -> Value? { entries.use(key)?.value }

    mutating func remove(_ key: Key) -> Bool {
        guard let entry = entries.remove(key) else { return false }
        usage -= entry.bytes
        beside -= entry.beside
        discarded.append(entry.value)
        return true
    }

    /// Removes values. Returns how many there were.
    mutating func removeAll(where isMeant: (Key) -> Bool) -> Int {
        let meant = entries.keys.filter(isMeant)
        return meant.count { remove($0) }
    }

    /// Removes all values. Returns whether there were any.
    mutating func removeAll() -> Bool {
        if entries.count == 0 { return false }
        discarded += entries.latestFirst.map(\.value.value)
        entries.removeAll()
        (usage, beside) = (0, 0)
        return true
    }

    /// Removes the least recently used values until at most the preferred size is left.
    mutating func purge() { purge(keeping: 0) }

    /// The values removed since the last call, for the driver to release.
    mutating func takeDiscarded() -> [Value] {
        if discarded.isEmpty { return [] }
        defer { discarded = [] }
        return discarded
    }

    /// Purges. The `latest` most recently used values stay, whatever their size.
    private mutating func purge(keeping latest: Int) {
        while max(usage, beside) > preferred, entries.count > latest, let oldest = entries.first {
            _ = remove(oldest.key)
        }
    }
}

extension ImageCacheMachine: Sendable where Key: Sendable, Value: Sendable {}
extension ImageCacheMachine.Entry: Sendable where Value: Sendable {}
