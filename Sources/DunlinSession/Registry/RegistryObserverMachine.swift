/// The observers that look now and then whether any of a registry's requests is active, and are told when to look
/// again.
///
/// Rules:
/// 1. Each waits for at most one thing: for any request to enter, or for a certain one to end. It is told once, and
///    then waits for nothing. So thousands of requests do not wake an observer that has not asked again.
/// 2. Every observer is told when a request is suspended or resumed.
/// 3. While there are observers, ends are counted and the time of the last is recorded. So an observer that looks
///    seldom learns what entered and ended meanwhile, and since when no request has been active.
struct RegistryObserverMachine<Observer> {
    private enum Wait: Equatable {
        case nothing
        case arrival
        case end(slot: Int)
    }

    private struct Registration {
        let id: UInt64
        let observer: Observer
        var wait = Wait.nothing
    }

    private var observers: [Registration] = []
    private var lastID: UInt64 = 0
    private(set) var ends = Ends()
    private(set) var awaitsArrival = false
    private(set) var awaitsEnd = false

    var isEmpty: Bool { observers.isEmpty }

    /// Adds an observer. Returns a number to look and to leave with.
    mutating func join(_ observer: Observer) -> UInt64 {
        lastID += 1
        observers.append(Registration(id: lastID, observer: observer))
        return lastID
    }

    mutating func leave(_ id: UInt64) {
        observers.removeAll { $0.id == id }
        noteWaits()
    }

    /// Replaces what the observer waits for. `slot` is that of an active request, if there is one.
    mutating func look(_ id: UInt64, for news: News, _ slot: Int?) {
        guard let index = observers.firstIndex(where: { $0.id == id }) else { return }
        observers[index].wait =
            switch (news, slot) {
            case (.arrival, nil): .arrival
            case (.end, let slot?): .end(slot: slot)
            case (.arrival, _?), (.end, nil), (.nothing, _): .nothing
            }
        noteWaits()
    }

    /// Notes that a request has entered. Returns the observers that waited for one.
    mutating func arrived() -> [Observer] {
        take { $0 == .arrival }
    }

    /// Notes that a request has ended.
    mutating func note(_ now: HTTP.Instant) {
        ends.note(now)
    }

    /// Notes that the request in this slot has ended. Returns the observers that waited for it.
    mutating func ended(_ slot: Int) -> [Observer] {
        awaitsEnd ? take { $0 == .end(slot: slot) } : []
    }

    /// Notes that a request was suspended at this time or, for nil, resumed. Returns every observer.
    mutating func noteSuspension(since time: HTTP.Instant?) -> [Observer] {
        if let time, !isEmpty { ends.note(time) }
        return observers.map(\.observer)
    }

    private mutating func take(_ isMeant: (Wait) -> Bool) -> [Observer] {
        var informed: [Observer] = []
        for index in observers.indices where isMeant(observers[index].wait) {
            observers[index].wait = .nothing
            informed.append(observers[index].observer)
        }
        noteWaits()
        return informed
    }

    private mutating func noteWaits() {
        awaitsArrival = observers.contains { $0.wait == .arrival }
        awaitsEnd = observers.contains { $0.wait != .arrival && $0.wait != .nothing }
    }
}

/// What an observer wants to be told next.
package enum News: Sendable {
    case nothing
    /// A request has entered, if none is active now.
    case arrival
    /// An active request has ended, if there is one.
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

    /// Adds the ends of another loop.
    mutating func add(_ others: Ends) {
        count += others.count
        last = max(last, others.last)
    }
}
