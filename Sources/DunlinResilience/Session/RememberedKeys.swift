internal import DunlinTypes

/// Values by their keys, of which many may be kept, and very many not.
///
/// Rules:
/// 1. If there are too many, those are forgotten first that hold nobody back, the least recently used before others. A
///    key that is held back is not forgotten because others came.
/// 2. If so many are held back that memory counts, the least recently used of them are forgotten, too.
/// 3. A look at all of them is paid for by many keys that have come since the last.
package struct RememberedKeys<Value> {
    /// So many are kept in any case.
    package static var few: Int { 1024 }
    /// No more are ever kept.
    package static var most: Int { 16 * few }

    private var all = RecentValues<String, Value>()
    /// With so many, there is to be room before another is added.
    private var full = Self.few

    package init() {}

    package var latestFirst: some Sequence<(key: String, value: Value)> { all.latestFirst }

    package subscript(key: String) -> Value? { all[key] }

    package mutating func use(_ key: String) -> Value? { all.use(key) }

    /// Adds a value for a new key. `isIdle` says of a value whether it holds nobody back.
    package mutating func add(_ value: Value, for key: String, where isIdle: (Value) -> Bool) {
        if all.count >= full { makeRoom(isIdle) }
        all.keep(value, for: key)
    }

    private mutating func makeRoom(_ isIdle: (Value) -> Bool) {
        for (key, value) in all.latestFirst.reversed() where isIdle(value) {
            if all.count <= Self.few / 8 * 7 { break }
            all.remove(key)
        }
        while all.count > Self.most / 8 * 7, let oldest = all.first { all.remove(oldest.key) }
        full = all.count <= Self.few / 8 * 7 ? Self.few : min(Self.most, 2 * all.count)
    }
}
