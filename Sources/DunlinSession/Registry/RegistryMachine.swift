/// Records which requests run, which may enter, and who waits for one of them or for the last one to end.
///
/// Requests are in numbered slots that are reused: entering and leaving touch one array, and hash nothing unless
/// somebody waits for a request to end. Both have a short form (`add`, `remove`) for when nobody has to be told, which
/// is almost always so.
///
/// Each request belongs to an era, which ends when its session is shut down or cancels all. A request of an ended era
/// is refused, however late it arrives.
struct RegistryMachine<Delegate, Observer> {
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var endObservers: [EndObserver] = []
    /// The requests whose code waits for others to end, here or elsewhere, by the numbers of these waits. They cannot
    /// end before.
    private var leftOut: [UInt64: Set<Int>] = [:]
    /// The waiters for the end of the request in each slot.
    private var requestObservers: [Int: [(id: UInt64, observer: Observer)]] = [:]
    private var observers = RegistryObserverMachine<Observer>()
    private var lastID: UInt64 = 0
    /// The number of requests that have entered.
    private(set) var arrivals: UInt64 = 0
    /// The last era that a shutdown ended, and the last one that cancelling all ended.
    private var ended: (byClosing: UInt64, byCancelling: UInt64) = (0, 0)
    /// Whether the short forms of entering and of leaving are unavailable.
    private var isGuarded = (entry: false, exit: false)

    /// A slot. It is taken while it has an era; it has a request until that is taken off the list.
    private struct Slot {
        var delegate: Delegate?
        var era: UInt64 = 0
    }

    /// Somebody who waits for the last request to end.
    private struct EndObserver {
        let id: UInt64
        /// The requests that are waited for; nil for all, including new ones.
        var awaited: Set<Int>?
        /// Set while it waits here. Within a request, of whatever list, it does not wait for those left out.
        var wait: (observer: Observer, isWithin: Bool)?
    }

    /// Why a request may not enter.
    enum Refusal: Error, Equatable {
        case closed
        case cancelled
    }

    var count: Int { slots.count - free.count }
    var running: [Delegate] { slots.compactMap(\.delegate) }

    /// The running requests of this era and earlier ones.
    func running(upTo era: UInt64) -> [Delegate] { slots.compactMap { $0.era <= era ? $0.delegate : nil } }

    /// Adds a request. Returns its slot; nil if somebody has to be told or the request may not enter: see `admit`.
    mutating func add(_ delegate: Delegate, of era: UInt64) -> Int? {
        isGuarded.entry || !mayCome(era) ? nil : enter(delegate, era)
    }

    private func mayCome(_ era: UInt64) -> Bool { era > ended.byClosing && era > ended.byCancelling }

    private mutating func enter(_ delegate: Delegate, _ era: UInt64) -> Int {
        arrivals += 1
        if let slot = free.popLast() {
            slots[slot] = Slot(delegate: delegate, era: era)
            return slot
        }
        slots.append(Slot(delegate: delegate, era: era))
        return slots.count - 1
    }

    /// Adds a request. Returns its slot, and the observers to tell. None are told of a request that is not active.
    mutating func admit(
        _ delegate: Delegate, of era: UInt64, moves: Bool
    ) throws(Refusal) -> (slot: Int, informed: [Observer]) {
        if era <= ended.byClosing { throw .closed }
        if era <= ended.byCancelling { throw .cancelled }
        let informed = moves ? observers.arrived() : []
        noteGuards()
        return (enter(delegate, era), informed)
    }

    /// Empties a slot from `add`. Returns false, without any effect, if somebody may have to be told: see `end`.
    /// The time is for observers; nil if it was not a request.
    mutating func remove(_ slot: Int, at now: HTTP.Instant?) -> Bool {
        if isGuarded.exit { return false }
        vacate(slot)
        if let now { observers.note(now) }
        return true
    }

    /// Empties a slot from `add` or `admit`. Returns the waiters that are done.
    mutating func end(_ slot: Int, at now: HTTP.Instant?) -> [Observer] {
        vacate(slot)
        if let now { observers.note(now) }
        let informed = observers.ended(slot)
        noteGuards()
        return requestObservers.isEmpty && endObservers.isEmpty && leftOut.isEmpty ? informed : informed + ended(slot)
    }

    private mutating func vacate(_ slot: Int) {
        slots[slot] = Slot()
        free.append(slot)
    }

    private mutating func ended(_ slot: Int) -> [Observer] {
        defer { noteGuards() }
        let informed = requestObservers.removeValue(forKey: slot) ?? []
        for id in leftOut.keys { leftOut[id]?.remove(slot) }
        for index in endObservers.indices { endObservers[index].awaited?.remove(slot) }
        return informed.map(\.observer) + takeServed()
    }

    private var allLeftOut: Set<Int> { leftOut.values.reduce(into: Set()) { $0.formUnion($1) } }

    /// Whether everything that is waited for has ended. Waiters within a request do not wait for requests whose code
    /// waits in the same way: neither would ever end.
    private func isServed(_ endObserver: EndObserver, isWithin: Bool) -> Bool {
        guard let awaited = endObserver.awaited else { return count == (isWithin ? allLeftOut.count : 0) }
        return isWithin ? awaited.isSubset(of: allLeftOut) : awaited.isEmpty
    }

    /// Removes the waiters that are done.
    private mutating func takeServed() -> [Observer] {
        var informed: [Observer] = []
        for index in endObservers.indices {
            guard let wait = endObservers[index].wait, isServed(endObservers[index], isWithin: wait.isWithin) else {
                continue
            }
            endObservers[index].wait = nil
            informed.append(wait.observer)
        }
        return informed
    }

    /// Takes the request off the list and keeps its slot taken until `remove`.
    mutating func unlist(_ slot: Int) {
        slots[slot].delegate = nil
    }

    /// Refuses requests of this era and earlier ones.
    mutating func close(_ era: UInt64) {
        ended.byClosing = max(ended.byClosing, era)
    }

    /// Refuses requests of this era and earlier ones, because all were cancelled.
    mutating func cancel(_ era: UInt64) {
        ended.byCancelling = max(ended.byCancelling, era)
    }

    /// Adds somebody who will wait for the last request to end; with an era that is over, only for this era and earlier
    /// ones. Returns a number to wait and to leave with.
    mutating func observeEnd(upTo era: UInt64? = nil) -> UInt64 {
        defer { noteGuards() }
        lastID += 1
        let awaited = era.map { era in Set(slots.indices.filter { slots[$0].era > 0 && slots[$0].era <= era }) }
        endObservers.append(EndObserver(id: lastID, awaited: awaited))
        return lastID
    }

    /// Leaves out requests whose code is about to wait, here or elsewhere. Returns a number to leave with, and the
    /// waiters to tell: others may have waited only for these requests.
    mutating func leaveOut(where isMeant: (Delegate) -> Bool) -> (id: UInt64, informed: [Observer]) {
        defer { noteGuards() }
        lastID += 1
        leftOut[lastID] = Set(slots.indices.filter { slots[$0].delegate.map(isMeant) ?? false })
        return (lastID, takeServed())
    }

    /// Begins the wait. Returns false if there is nothing to wait for. Waiters within a request, in any list, wait for
    /// fewer.
    mutating func wait(_ id: UInt64, isWithin: Bool, _ observer: Observer) -> Bool {
        guard let index = endObservers.firstIndex(where: { $0.id == id }),
            !isServed(endObservers[index], isWithin: isWithin)
        else { return false }
        endObservers[index].wait = (observer, isWithin)
        return true
    }

    mutating func leave(_ id: UInt64) {
        endObservers.removeAll { $0.id == id }
        leftOut[id] = nil
        noteGuards()
    }

    /// A wait for one request.
    struct RequestObserver {
        fileprivate let slot: Int
        fileprivate let id: UInt64
    }

    /// Waits for a listed request. Returns what to leave with; nil if there is no such request, and nothing to wait
    /// for.
    mutating func observeRequest(_ observer: Observer, _ isMeant: (Delegate) -> Bool) -> RequestObserver? {
        guard let slot = slots.firstIndex(where: { $0.delegate.map(isMeant) ?? false }) else { return nil }
        lastID += 1
        requestObservers[slot, default: []].append((lastID, observer))
        noteGuards()
        return RequestObserver(slot: slot, id: lastID)
    }

    mutating func leave(_ requestObserver: RequestObserver) {
        // The slot may belong to another request by now, with its own observers.
        requestObservers[requestObserver.slot]?.removeAll { $0.id == requestObserver.id }
        if requestObservers[requestObserver.slot]?.isEmpty == true { requestObservers[requestObserver.slot] = nil }
        noteGuards()
    }

    private mutating func noteGuards() {
        isGuarded.entry = observers.awaitsArrival
        isGuarded.exit =
            !endObservers.isEmpty || !leftOut.isEmpty || !requestObservers.isEmpty || observers.awaitsEnd
    }
}

// MARK: - Observing

extension RegistryMachine {
    /// What an observer sees.
    struct Observation {
        /// Whether any request is active.
        let isBusy: Bool
        let ends: Ends
    }

    /// Adds an observer. Returns a number to look and to leave with.
    mutating func join(_ observer: Observer) -> UInt64 {
        observers.join(observer)
    }

    var hasObservers: Bool { !observers.isEmpty }

    mutating func remove(observer: UInt64) {
        observers.leave(observer)
        noteGuards()
    }

    mutating func look(_ observer: UInt64, for news: News, where moves: (Delegate) -> Bool) -> Observation {
        let slot = slots.firstIndex { $0.delegate.map(moves) ?? false }
        observers.look(observer, for: news, slot)
        noteGuards()
        return Observation(isBusy: slot != nil, ends: observers.ends)
    }

    /// Notes that a request was suspended at this time or, for nil, resumed. Returns the observers to tell.
    mutating func noteSuspension(since time: HTTP.Instant?) -> [Observer] {
        observers.noteSuspension(since: time)
    }
}
