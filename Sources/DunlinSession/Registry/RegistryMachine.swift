/// Which requests run, which more may come, and who waits for one or for the last to end.
///
/// Requests stand in numbered places that are used again: entering and leaving touch one array, and hash nothing unless
/// somebody waits for a request to end. Both have a short way, for when nobody has to be told, which is nearly always.
///
/// Each comes from an era, which ends when its session is shut down or cancels all: what was asked for in one that has
/// ended comes too late, however long it was on its way.
struct RegistryMachine<Delegate, Watcher> {
    private var places: [Delegate?] = []
    private var free: [Int] = []
    private var endObservers: [Watching] = []
    /// Who waits for the request in a place.
    private var requestObservers: [Int: [(id: UInt64, watcher: Watcher)]] = [:]
    private var observers = RegistryObserverMachine<Watcher>()
    private var nextWatcher: UInt64 = 0
    /// How many have come.
    private(set) var arrivals: UInt64 = 0
    /// The last that the session was shut down in, and the last in which it cancelled all.
    private var ended: (byClosing: UInt64, byCancelling: UInt64) = (0, 0)
    /// Whether the short way in is barred, and the short way out.
    private var isGuarded = (entry: false, exit: false)

    /// Who wants the last to end, but for the requests that it is within: they cannot end before.
    private struct Watching {
        let id: UInt64
        var leftOut: Set<Int>
        /// While it waits here, and what for: it may be within requests of other books only.
        var wait: (watcher: Watcher, isWithin: Bool)?
    }

    /// Why a request may not come.
    enum Refusal: Error, Equatable {
        case closed
        case cancelled
    }

    var count: Int { places.count - free.count }
    var running: [Delegate] { places.compactMap(\.self) }

    /// The place to leave from; nil if somebody has to be told, or it may not come: see `admit`.
    mutating func add(_ delegate: Delegate, of era: UInt64) -> Int? {
        isGuarded.entry || !mayCome(era) ? nil : enter(delegate)
    }

    @inline(__always)
    private func mayCome(_ era: UInt64) -> Bool { era > ended.byClosing && era > ended.byCancelling }

    @inline(__always)
    private mutating func enter(_ delegate: Delegate) -> Int {
        arrivals += 1
        if let place = free.popLast() {
            places[place] = delegate
            return place
        }
        places.append(delegate)
        return places.count - 1
    }

    /// The place to leave from, and those to be told. Nobody is told of a request that does not move.
    mutating func admit(
        _ delegate: Delegate, of era: UInt64, moves: Bool
    ) throws(Refusal) -> (place: Int, told: [Watcher]) {
        if era <= ended.byClosing { throw .closed }
        if era <= ended.byCancelling { throw .cancelled }
        let told = moves ? observers.arrived() : []
        noteGuards()
        return (enter(delegate), told)
    }

    /// Empties a place that `add` gave. False if somebody may have to be told, and nothing was done: see `dismiss`. The
    /// time is for those who look on, of what was a request.
    mutating func remove(_ place: Int, at now: MonotonicTime?) -> Bool {
        if isGuarded.exit { return false }
        vacate(place)
        if let now { observers.note(now) }
        return true
    }

    /// Empties a place that `add` or `admit` gave; those to be told that what they wait for is over.
    mutating func dismiss(_ place: Int, at now: MonotonicTime?) -> [Watcher] {
        vacate(place)
        if let now { observers.note(now) }
        let told = observers.ended(place)
        noteGuards()
        return requestObservers.isEmpty && endObservers.isEmpty ? told : told + ended(place)
    }

    @inline(__always)
    private mutating func vacate(_ place: Int) {
        places[place] = nil
        free.append(place)
    }

    private mutating func ended(_ place: Int) -> [Watcher] {
        defer { noteGuards() }
        let told = requestObservers.removeValue(forKey: place) ?? []
        for index in endObservers.indices { endObservers[index].leftOut.remove(place) }
        return told.map(\.watcher) + takeServed()
    }

    /// Whether the last has ended, as far as it is waited for. Who waits within a request does not wait for others that
    /// do so within theirs: neither would ever end.
    private func isServed(isWithin: Bool) -> Bool {
        count == (isWithin ? endObservers.reduce(into: Set<Int>()) { $0.formUnion($1.leftOut) }.count : 0)
    }

    /// Those who need not wait any more.
    private mutating func takeServed() -> [Watcher] {
        let isOver = (isServed(isWithin: false), isServed(isWithin: true))
        var told: [Watcher] = []
        for index in endObservers.indices {
            guard let wait = endObservers[index].wait, wait.isWithin ? isOver.1 : isOver.0 else { continue }
            endObservers[index].wait = nil
            told.append(wait.watcher)
        }
        return told
    }

    /// Empties a place and keeps it, until `remove`.
    mutating func unlist(_ place: Int) {
        places[place] = nil
    }

    /// What was asked for up to this era may not come any more.
    mutating func close(_ era: UInt64) {
        ended.byClosing = max(ended.byClosing, era)
    }

    /// The same, since all was cancelled then.
    mutating func cancel(_ era: UInt64) {
        ended.byCancelling = max(ended.byCancelling, era)
    }

    /// Who will wait for the last to end, within some of those that run, perhaps: a number to wait and to leave with,
    /// and whether it is. Others may have waited for nothing but these: they are told.
    mutating func watch(
        leavingOut isLeftOut: (Delegate) -> Bool = { _ in false }
    ) -> (id: UInt64, isWithin: Bool, told: [Watcher]) {
        let within = places.indices.filter { places[$0].map(isLeftOut) ?? false }
        nextWatcher += 1
        endObservers.append(Watching(id: nextWatcher, leftOut: Set(within)))
        defer { noteGuards() }
        return (nextWatcher, !within.isEmpty, within.isEmpty ? [] : takeServed())
    }

    /// False if there is nothing to wait for; who is within a request, of whichever book, waits for less.
    mutating func wait(_ id: UInt64, isWithin: Bool, _ watcher: Watcher) -> Bool {
        guard !isServed(isWithin: isWithin), let index = endObservers.firstIndex(where: { $0.id == id }) else {
            return false
        }
        endObservers[index].wait = (watcher, isWithin)
        return true
    }

    mutating func leave(_ id: UInt64) {
        endObservers.removeAll { $0.id == id }
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
        requestObservers[place, default: []].append((nextWatcher, watcher))
        noteGuards()
        return Following(place: place, id: nextWatcher)
    }

    mutating func leave(_ following: Following) {
        // The place may be another's by now, and have followers of its own.
        requestObservers[following.place]?.removeAll { $0.id == following.id }
        if requestObservers[following.place]?.isEmpty == true { requestObservers[following.place] = nil }
        noteGuards()
    }

    private mutating func noteGuards() {
        isGuarded.entry = observers.awaitsArrival
        isGuarded.exit = !endObservers.isEmpty || !requestObservers.isEmpty || observers.awaitsEnd
    }
}

// MARK: - Looking on

extension RegistryMachine {
    /// What an observer sees.
    struct Observation {
        /// Whether any request moves.
        let isBusy: Bool
        let ends: Ends
    }

    /// A number to look and to leave with.
    mutating func join(_ observer: Watcher) -> UInt64 {
        observers.join(observer)
    }

    var hasObservers: Bool { !observers.isEmpty }

    mutating func part(_ observer: UInt64) {
        observers.leave(observer)
        noteGuards()
    }

    mutating func look(_ observer: UInt64, for news: News, where moves: (Delegate) -> Bool) -> Observation {
        let place = places.firstIndex { $0.map(moves) ?? false }
        observers.look(observer, for: news, place)
        noteGuards()
        return Observation(isBusy: place != nil, ends: observers.ends)
    }

    /// Those to be told that a request is held since this time, or was let go: nil.
    mutating func noteHold(since time: MonotonicTime?) -> [Watcher] {
        observers.noteHold(since: time)
    }
}
