// Records who sleeps on a clock that stands still, and until when.
//
// A cancel may come before the sleeper sleeps, while it sleeps, after it was woken, or never: `begin` returns an ID
// first, and each ID is forgotten in every case. The machine wakes nobody and reads no clock: it returns whom to wake,
// outside the lock.
struct SleepMachine<Sleeper> {
    enum Action {
        case sleep
        case wake(Sleeper, isCancelled: Bool)
    }

    private var lastID: UInt64 = 0
    /// The IDs of those about to sleep; true if cancelled.
    private var arriving: [UInt64: Bool] = [:]
    private var asleep: [(id: UInt64, until: Duration, sleeper: Sleeper)] = []

    var count: Int { asleep.count }
    /// When the first sleeper wakes.
    var earliest: Duration? { asleep.map(\.until).min() }
    var isEmpty: Bool { arriving.isEmpty && asleep.isEmpty }

    mutating func begin() -> UInt64 {
        lastID += 1
        arriving[lastID] = false
        return lastID
    }

    mutating func sleep(_ id: UInt64, until deadline: Duration, at now: Duration, _ sleeper: Sleeper) -> Action {
        let isCancelled = arriving.removeValue(forKey: id) ?? true
        if isCancelled || deadline <= now { return .wake(sleeper, isCancelled: isCancelled) }
        asleep.append((id, deadline, sleeper))
        return .sleep
    }

    /// Cancels a sleeper. Returns it if it was sleeping.
    mutating func cancel(_ id: UInt64) -> Sleeper? {
        if arriving[id] != nil { arriving[id] = true }
        guard let index = asleep.firstIndex(where: { $0.id == id }) else { return nil }
        return asleep.remove(at: index).sleeper
    }

    /// Removes and returns those whose time has come, the earliest first.
    mutating func wake(at now: Duration) -> [Sleeper] {
        let due = asleep.filter { $0.until <= now }.sorted { $0.until < $1.until }
        asleep.removeAll { $0.until <= now }
        return due.map(\.sleeper)
    }
}
