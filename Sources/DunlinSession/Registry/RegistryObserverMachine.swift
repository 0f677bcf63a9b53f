/// The observers who look, now and then, at whether any of a registry's requests is active, and are told when it is
/// worth another look.
///
/// Rules:
/// 1. Each waits for one thing at most: for any request to enter, or for a certain one to end. It is told once, and
///    waits for nothing from then on. So thousands of requests that enter and end wake no observer that has not asked
///    again.
/// 2. That a request was suspended or resumed is told to every observer.
/// 3. While there are observers, ends are counted and the time of the last is kept. So an observer that looks seldom
///    knows what entered and ended meanwhile, and since when no request has been active.
struct RegistryObserverMachine<Watcher> {
    private enum Wait: Equatable {
        case nothing
        case arrival
        case end(place: Int)
    }

    private struct Registration {
        let id: UInt64
        let watcher: Watcher
        var wait = Wait.nothing
    }

    private var observers: [Registration] = []
    private var lastID: UInt64 = 0
    private(set) var ends = Ends()
    private(set) var awaitsArrival = false
    private(set) var awaitsEnd = false

    var isEmpty: Bool { observers.isEmpty }

    /// A number to look and to leave with.
    mutating func join(_ watcher: Watcher) -> UInt64 {
        lastID += 1
        observers.append(Registration(id: lastID, watcher: watcher))
        return lastID
    }

    mutating func leave(_ id: UInt64) {
        observers.removeAll { $0.id == id }
        noteWaits()
    }

    /// Replaces what the observer waited for before. `place` is that of an active request, should there be one.
    mutating func look(_ id: UInt64, for news: News, _ place: Int?) {
        guard let index = observers.firstIndex(where: { $0.id == id }) else { return }
        observers[index].wait =
            switch (news, place) {
            case (.arrival, nil): .arrival
            case (.end, let place?): .end(place: place)
            case (.arrival, _?), (.end, nil), (.nothing, _): .nothing
            }
        noteWaits()
    }

    /// A request has entered: those who wait for one.
    mutating func arrived() -> [Watcher] {
        take { $0 == .arrival }
    }

    /// A request has ended.
    mutating func note(_ now: HTTP.Instant) {
        ends.note(now)
    }

    /// The request in this place has ended: those who wait for that.
    mutating func ended(_ place: Int) -> [Watcher] {
        awaitsEnd ? take { $0 == .end(place: place) } : []
    }

    /// Every observer: a request has been suspended since this time, or (nil) was resumed.
    mutating func noteSuspension(since time: HTTP.Instant?) -> [Watcher] {
        if let time, !isEmpty { ends.note(time) }
        return observers.map(\.watcher)
    }

    private mutating func take(_ isMeant: (Wait) -> Bool) -> [Watcher] {
        var told: [Watcher] = []
        for index in observers.indices where isMeant(observers[index].wait) {
            observers[index].wait = .nothing
            told.append(observers[index].watcher)
        }
        noteWaits()
        return told
    }

    private mutating func noteWaits() {
        awaitsArrival = observers.contains { $0.wait == .arrival }
        awaitsEnd = observers.contains { $0.wait != .arrival && $0.wait != .nothing }
    }
}

/// What an observer wants to be told of next.
package enum News: Sendable {
    case nothing
    /// That a request has entered, if none is active.
    case arrival
    /// That an active request has ended, if there is one.
    case end
}

/// How many requests ended while there were observers, and when the last one did.
package struct Ends: Sendable, Equatable {
    package private(set) var count: UInt64 = 0
    package private(set) var last = HTTP.Instant(nanoseconds: 0)

    fileprivate mutating func note(_ now: HTTP.Instant) {
        count += 1
        last = max(last, now)
    }

    /// Adds the ends on another loop.
    mutating func add(_ others: Ends) {
        count += others.count
        last = max(last, others.last)
    }
}
