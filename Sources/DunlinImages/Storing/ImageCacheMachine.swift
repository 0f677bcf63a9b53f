internal import Dunlin

/// The rules of a cache that purges itself.
///
/// What is stored is counted in bytes. When an entry makes them more than `capacity`, those that were used longest ago
/// go until no more than `preferred` are left; the entry that was just added stays. One that is larger than the
/// capacity is refused, and takes nothing else with it.
///
/// It knows neither clocks nor pictures: times are durations since some beginning that the driver knows. What has to be
/// released is kept in `discarded`, so that the driver lets go of it when it holds no lock.
struct ImageCacheMachine<Key: Hashable, Value> {
    struct Entry {
        var value: Value
        var bytes: Int
        /// When it is stale; nil for never.
        var end: Duration?
    }

    enum Found {
        case fresh(Value)
        case stale(Value)
        case nothing
    }

    let capacity: Int
    let preferred: Int
    private(set) var usage = 0
    private var entries = RecentValues<Key, Entry>()
    private var discarded: [Value] = []

    /// Nil if the preferred size is none, or larger than the capacity.
    init?(capacity: Int, preferred: Int) {
        guard preferred >= 0, preferred <= capacity else { return nil }
        self.init(capacity: capacity, keeping: preferred)
    }

    /// A size that is known to be one; of two that are not, the smaller counts for both.
    init(capacity: Int, keeping preferred: Int) {
        (self.capacity, self.preferred) = (capacity, min(capacity, preferred))
    }

    var count: Int { entries.count }
    var keys: some Collection<Key> { entries.keys }

    /// False if it is larger than the capacity. What was stored under the key is gone in any case.
    mutating func add(_ value: Value, bytes: Int, for key: Key, until end: Duration? = nil) -> Bool {
        _ = remove(key)
        guard bytes >= 0, bytes <= capacity else { return false }
        entries.keep(Entry(value: value, bytes: bytes, end: end), for: key)
        usage += bytes
        if usage > capacity { purge(keeping: 1) }
        return true
    }

    /// To look at a stale entry is no use of it.
    mutating func value(for key: Key, at now: Duration) -> Found {
        guard let entry = entries[key] else { return .nothing }
        if let end = entry.end, end <= now { return .stale(entry.value) }
        _ = entries.use(key)
        return .fresh(entry.value)
    }

    /// Whatever its age.
    mutating func anyValue(for key: Key) -> Value? { entries.use(key)?.value }

    /// A new end for what is still the same, and how many bytes it has now. False if it has gone meanwhile; it has gone
    /// afterwards if it has become larger than the capacity.
    mutating func renew(
        _ key: Key, until end: Duration?, _ change: (inout Value) -> Void, bytes count: (Value) -> Int
    ) -> Bool {
        guard let former = entries.use(key)?.bytes else { return false }
        let bytes = entries.change(key) { entry in
            entry.end = end
            change(&entry.value)
            entry.bytes = count(entry.value)
            return entry.bytes
        }
        guard let bytes else { return false }
        usage += bytes - former
        if bytes > capacity { return !remove(key) }
        if usage > capacity { purge(keeping: 1) }
        return true
    }

    mutating func remove(_ key: Key) -> Bool {
        guard let entry = entries.remove(key) else { return false }
        usage -= entry.bytes
        discarded.append(entry.value)
        return true
    }

    /// How many there were.
    mutating func removeAll(where isMeant: (Key) -> Bool) -> Int {
        let meant = entries.keys.filter(isMeant)
        return meant.count { remove($0) }
    }

    /// False if there was nothing.
    mutating func removeAll() -> Bool {
        if entries.count == 0 { return false }
        discarded += entries.latestFirst.map(\.value.value)
        entries.removeAll()
        usage = 0
        return true
    }

    /// Removes what was used longest ago until no more than the preferred size is left.
    mutating func purge() { purge(keeping: 0) }

    /// What was removed since, for the driver to let go of.
    mutating func takeDiscarded() -> [Value] {
        if discarded.isEmpty { return [] }
        defer { discarded = [] }
        return discarded
    }

    /// `latest` is how many of those used last stay whatever they take.
    private mutating func purge(keeping latest: Int) {
        while usage > preferred, entries.count > latest, let oldest = entries.first { _ = remove(oldest.key) }
    }
}

extension ImageCacheMachine: Sendable where Key: Sendable, Value: Sendable {}
extension ImageCacheMachine.Entry: Sendable where Value: Sendable {}
extension ImageCacheMachine.Found: Sendable where Value: Sendable {}
