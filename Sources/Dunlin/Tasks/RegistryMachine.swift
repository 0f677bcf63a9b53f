/// Which requests run, whether more may come, and who waits for the last to end.
///
/// Requests stand in numbered places that are used again: entering and leaving touch one array, and hash nothing.
struct RegistryMachine<Delegate, Watcher> {
    private var places: [Delegate?] = []
    private var free: [Int] = []
    private var watchers: [(id: UInt64, watcher: Watcher)] = []
    private var nextWatcher: UInt64 = 0
    private(set) var isClosed = false

    var count: Int { places.count - free.count }
    var running: [Delegate] { places.compactMap(\.self) }

    /// The place to leave from; nil once the registry is closed.
    mutating func add(_ delegate: Delegate) -> Int? {
        if isClosed { return nil }
        if let place = free.popLast() {
            places[place] = delegate
            return place
        }
        places.append(delegate)
        return places.count - 1
    }

    /// Empties a place that `add` gave; those to be told that nothing runs any more.
    mutating func remove(_ place: Int) -> [Watcher] {
        places[place] = nil
        free.append(place)
        guard !watchers.isEmpty, count == 0 else { return [] }
        defer { watchers = [] }
        return watchers.map(\.watcher)
    }

    /// Empties a place and keeps it, until `remove`.
    mutating func unlist(_ place: Int) {
        places[place] = nil
    }

    mutating func close() {
        isClosed = true
    }

    mutating func open() {
        isClosed = false
    }

    /// A number to leave with; nil if nothing runs, and there is nothing to wait for.
    mutating func watch(_ watcher: Watcher) -> UInt64? {
        if count == 0 { return nil }
        nextWatcher += 1
        watchers.append((nextWatcher, watcher))
        return nextWatcher
    }

    mutating func leave(_ id: UInt64) {
        watchers.removeAll { $0.id == id }
    }
}
