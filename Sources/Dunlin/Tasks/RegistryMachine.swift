/// Which requests run, whether more may come, and who waits for one or for the last to end.
///
/// Requests stand in numbered places that are used again: entering and leaving touch one array, and hash nothing unless
/// somebody waits for a request to end.
struct RegistryMachine<Delegate, Watcher> {
    private var places: [Delegate?] = []
    private var free: [Int] = []
    private var watchers: [(id: UInt64, watcher: Watcher)] = []
    /// Who waits for the request in a place.
    private var followers: [Int: [(id: UInt64, watcher: Watcher)]] = [:]
    private var isWatched = false
    private var nextWatcher: UInt64 = 0
    private(set) var isClosed = false

    var count: Int { places.count - free.count }
    var running: [Delegate] { places.compactMap(\.self) }

    /// The first in no order that means anything.
    func first(where isMeant: (Delegate) -> Bool) -> Delegate? {
        for case let delegate? in places where isMeant(delegate) { return delegate }
        return nil
    }

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

    /// Empties a place that `add` gave; those to be told that what they wait for is over.
    mutating func remove(_ place: Int) -> [Watcher] {
        places[place] = nil
        free.append(place)
        return isWatched ? ended(place) : []
    }

    @inline(never)
    private mutating func ended(_ place: Int) -> [Watcher] {
        defer { noteWatchers() }
        var told = followers.removeValue(forKey: place) ?? []
        guard count == 0 else { return told.map(\.watcher) }
        told += watchers
        watchers = []
        return told.map(\.watcher)
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
        isWatched = true
        return nextWatcher
    }

    mutating func leave(_ id: UInt64) {
        watchers.removeAll { $0.id == id }
        noteWatchers()
    }

    /// Who waits for one request.
    struct Following {
        fileprivate let place: Int
        fileprivate let id: UInt64
    }

    /// What to leave with; nil if nobody on the list is meant, and there is nothing to wait for.
    mutating func follow(_ watcher: Watcher, _ isMeant: (Delegate) -> Bool) -> Following? {
        guard let place = places.firstIndex(where: { $0.map(isMeant) ?? false }) else { return nil }
        nextWatcher += 1
        followers[place, default: []].append((nextWatcher, watcher))
        isWatched = true
        return Following(place: place, id: nextWatcher)
    }

    mutating func leave(_ following: Following) {
        // The place may be another's by now, and have followers of its own.
        followers[following.place]?.removeAll { $0.id == following.id }
        if followers[following.place]?.isEmpty == true { followers[following.place] = nil }
        noteWatchers()
    }

    private mutating func noteWatchers() {
        isWatched = !watchers.isEmpty || !followers.isEmpty
    }
}
