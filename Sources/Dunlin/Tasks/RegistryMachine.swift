internal import DunlinTypes

/// Which requests run, whether more may come, and who waits for one or for the last to end.
///
/// Requests stand in numbered places that are used again: entering and leaving touch one array, and hash nothing unless
/// somebody waits for a request to end. Both have a short way, for when nobody has to be told, which is nearly always.
struct RegistryMachine<Delegate, Watcher> {
    private var places: [Delegate?] = []
    private var free: [Int] = []
    private var watchers: [Watching] = []
    /// Who waits for the request in a place.
    private var followers: [Int: [(id: UInt64, watcher: Watcher)]] = [:]
    private var onlookers = OnlookerMachine<Watcher>()
    private var nextWatcher: UInt64 = 0
    private(set) var isClosed = false
    /// Whether the short way in is barred, and the short way out.
    private var isGuarded = (entry: false, exit: false)

    /// Who waits for the last to end, but for the requests that it is within: they cannot end before.
    private struct Watching {
        let id: UInt64
        let watcher: Watcher
        var leftOut: Set<Int> = []
    }

    var count: Int { places.count - free.count }
    var running: [Delegate] { places.compactMap(\.self) }

    /// The place to leave from; nil if somebody has to be told, or the registry is closed: see `admit`.
    mutating func add(_ delegate: Delegate) -> Int? {
        isGuarded.entry ? nil : enter(delegate)
    }

    @inline(__always)
    private mutating func enter(_ delegate: Delegate) -> Int {
        if let place = free.popLast() {
            places[place] = delegate
            return place
        }
        places.append(delegate)
        return places.count - 1
    }

    /// The place to leave from, and those to be told; nil once the registry is closed. Nobody is told of a request that
    /// does not move.
    mutating func admit(_ delegate: Delegate, moves: Bool) -> (place: Int, told: [Watcher])? {
        if isClosed { return nil }
        let told = moves ? onlookers.arrived() : []
        noteGuards()
        return (enter(delegate), told)
    }

    /// Empties a place that `add` gave. False if somebody may have to be told, and nothing was done: see `dismiss`. The
    /// time is for those who look on, of what was a request.
    mutating func remove(_ place: Int, at now: MonotonicTime?) -> Bool {
        if isGuarded.exit { return false }
        vacate(place)
        if let now { onlookers.note(now) }
        return true
    }

    /// Empties a place that `add` or `admit` gave; those to be told that what they wait for is over.
    mutating func dismiss(_ place: Int, at now: MonotonicTime?) -> [Watcher] {
        vacate(place)
        if let now { onlookers.note(now) }
        let told = onlookers.ended(place)
        noteGuards()
        return followers.isEmpty && watchers.isEmpty ? told : told + ended(place)
    }

    @inline(__always)
    private mutating func vacate(_ place: Int) {
        places[place] = nil
        free.append(place)
    }

    private mutating func ended(_ place: Int) -> [Watcher] {
        defer { noteGuards() }
        let told = followers.removeValue(forKey: place) ?? []
        for index in watchers.indices { watchers[index].leftOut.remove(place) }
        return told.map(\.watcher) + takeServed()
    }

    /// Those who need not wait any more. Who waits within a request does not wait for others that do so within theirs:
    /// neither would ever end.
    private mutating func takeServed() -> [Watcher] {
        let within = watchers.reduce(into: Set<Int>()) { $0.formUnion($1.leftOut) }.count
        let served = watchers.filter { count == ($0.leftOut.isEmpty ? 0 : within) }
        guard !served.isEmpty else { return [] }
        watchers.removeAll { each in served.contains { $0.id == each.id } }
        return served.map(\.watcher)
    }

    /// Empties a place and keeps it, until `remove`.
    mutating func unlist(_ place: Int) {
        places[place] = nil
    }

    mutating func close() {
        isClosed = true
        noteGuards()
    }

    mutating func open() {
        isClosed = false
        noteGuards()
    }

    /// A number to leave with; nil if nothing runs, and there is nothing to wait for.
    mutating func watch(_ watcher: Watcher) -> UInt64? {
        if count == 0 { return nil }
        nextWatcher += 1
        watchers.append(Watching(id: nextWatcher, watcher: watcher))
        noteGuards()
        return nextWatcher
    }

    /// The same for one who is within some of those that run, and does not wait for them. Others may have waited for
    /// nothing but these: they are told.
    mutating func watch(_ watcher: Watcher, leavingOut isLeftOut: (Delegate) -> Bool) -> (id: UInt64?, told: [Watcher])
    {
        let within = places.indices.filter { places[$0].map(isLeftOut) ?? false }
        guard let id = watch(watcher) else { return (nil, []) }
        if within.isEmpty { return (id, []) }
        watchers[watchers.count - 1].leftOut = Set(within)
        defer { noteGuards() }
        return (id, takeServed())
    }

    mutating func leave(_ id: UInt64) {
        watchers.removeAll { $0.id == id }
        noteGuards()
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
        noteGuards()
        return Following(place: place, id: nextWatcher)
    }

    mutating func leave(_ following: Following) {
        // The place may be another's by now, and have followers of its own.
        followers[following.place]?.removeAll { $0.id == following.id }
        if followers[following.place]?.isEmpty == true { followers[following.place] = nil }
        noteGuards()
    }

    private mutating func noteGuards() {
        isGuarded.entry = isClosed || onlookers.awaitsArrival
        isGuarded.exit = !watchers.isEmpty || !followers.isEmpty || onlookers.awaitsEnd
    }
}

// MARK: - Looking on

extension RegistryMachine {
    /// What an onlooker sees.
    struct Sight {
        /// Whether any request moves.
        let isBusy: Bool
        let ends: Ends
    }

    /// A number to look and to leave with.
    mutating func join(_ onlooker: Watcher) -> UInt64 {
        onlookers.join(onlooker)
    }

    var hasOnlookers: Bool { !onlookers.isEmpty }

    mutating func part(_ onlooker: UInt64) {
        onlookers.leave(onlooker)
        noteGuards()
    }

    mutating func look(_ onlooker: UInt64, for news: News, where moves: (Delegate) -> Bool) -> Sight {
        let place = places.firstIndex { $0.map(moves) ?? false }
        onlookers.look(onlooker, for: news, place)
        noteGuards()
        return Sight(isBusy: place != nil, ends: onlookers.ends)
    }

    /// Those to be told that a request is held since this time, or was let go: nil.
    mutating func noteHold(since time: MonotonicTime?) -> [Watcher] {
        onlookers.noteHold(since: time)
    }
}
