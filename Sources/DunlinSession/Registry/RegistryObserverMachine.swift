/// Those who look, now and then, at whether any of a registry's requests moves, and are told when it is worth another
/// look.
///
/// Rules:
/// 1. Each waits for one thing at most: for any request to come, or for a certain one to end. It is told once, and
///    waits for nothing from then on: what comes and ends by the thousand wakes nobody who has not asked again.
/// 2. That a request was held or let go is told to everybody.
/// 3. While there is anybody, ends are counted and the time of the last is kept, so that who looks seldom knows what
///    came and went meanwhile, and since when there has been nothing.
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

    /// Takes the place of what it waited for before. `place` is that of a request that moves, should there be one.
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

    /// Those who wait for a request to come.
    mutating func arrived() -> [Watcher] {
        take { $0 == .arrival }
    }

    /// A request has ended.
    mutating func note(_ now: MonotonicTime) {
        ends.note(now)
    }

    /// Those who wait for the end of the request in this place.
    mutating func ended(_ place: Int) -> [Watcher] {
        awaitsEnd ? take { $0 == .end(place: place) } : []
    }

    /// Everybody: a request is held since this time, or was let go: nil.
    mutating func noteHold(since time: MonotonicTime?) -> [Watcher] {
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
    /// If no request moves: that one has come.
    case arrival
    /// If one moves: that one of them has ended.
    case end
}

/// How many requests stopped moving while there was somebody who looks on, and when the last did.
package struct Ends: Sendable, Equatable {
    package private(set) var count: UInt64 = 0
    package private(set) var last = MonotonicTime(nanoseconds: 0)

    fileprivate mutating func note(_ now: MonotonicTime) {
        count += 1
        last = max(last, now)
    }

    /// Those of another loop.
    mutating func add(_ others: Ends) {
        count += others.count
        last = max(last, others.last)
    }
}
