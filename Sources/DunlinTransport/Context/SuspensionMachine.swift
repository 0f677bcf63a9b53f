internal import DunlinTypes

/// Keeps whether a transfer is suspended, for how long it was, and who waits for it to be resumed.
///
/// Rules:
/// 1. A transfer is suspended or moving. Suspending it twice is suspending it once, and one resume lets it move,
///    however often it was suspended.
/// 2. Suspended time is kept, so that a limit can leave out what fell into its wait: it was not the peer's fault. Of
///    very many suspensions the oldest are kept as one.
/// 3. Once it is over, nothing changes it any more, and nobody waits.
/// 4. An observer is told of the next change, whichever that is, and asks again.
struct SuspensionMachine<Waiter> {
    private struct Spell {
        let start: HTTP.Instant
        var length: Int64

        func length(since time: HTTP.Instant) -> Int64 {
            max(0, min(length, start.nanoseconds + length - time.nanoseconds))
        }
    }

    private static var remembered: Int { 32 }

    private enum State: Equatable {
        case moving
        case suspended(since: HTTP.Instant)
        case over
    }

    private var state = State.moving
    private var spells: [Spell] = []
    private var waiters: [(id: UInt64, waiter: Waiter)] = []
    private var observers: [(id: UInt64, waiter: Waiter)] = []
    private var lastWaiter: UInt64 = 0

    var motion: TransferControl.Motion {
        switch state {
        case .moving: .moving
        case .suspended: .suspended
        case .over: .over
        }
    }

    /// Whether it was never suspended: no time has to be left out.
    var isUntouched: Bool { state == .moving && spells.isEmpty }

    var isSuspended: Bool {
        if case .suspended = state { true } else { false }
    }

    /// Nanoseconds suspended from `time` on, the present suspension included.
    func suspendedTime(since time: HTTP.Instant, at now: HTTP.Instant) -> Int64 {
        spells.reduce(present(at: now)?.length(since: time) ?? 0) { $0 + $1.length(since: time) }
    }

    private func present(at now: HTTP.Instant) -> Spell? {
        guard case .suspended(let since) = state else { return nil }
        return Spell(start: since, length: max(0, now.nanoseconds - since.nanoseconds))
    }

    private mutating func endSpell(at now: HTTP.Instant) {
        guard let spell = present(at: now) else { return }
        spells.append(spell)
        guard spells.count > Self.remembered else { return }
        spells[1].length += spells[0].length
        spells[1] = Spell(start: spells[0].start, length: spells[1].length)
        spells.removeFirst()
    }

    /// Returns whether that changed anything.
    mutating func suspend(at now: HTTP.Instant) -> Bool {
        guard state == .moving else { return false }
        state = .suspended(since: now)
        return true
    }

    /// Those who may go on, and the observers; nil if it was not suspended.
    mutating func resume(at now: HTTP.Instant) -> [Waiter]? {
        guard isSuspended else { return nil }
        endSpell(at: now)
        state = .moving
        return takeWaiters()
    }

    /// Those who need not wait any more, and the observers.
    mutating func end(at now: HTTP.Instant) -> [Waiter] {
        endSpell(at: now)
        state = .over
        return takeWaiters()
    }

    /// A number to leave with; nil if there is nothing to wait for.
    mutating func wait(_ waiter: Waiter) -> UInt64? {
        guard isSuspended else { return nil }
        lastWaiter += 1
        waiters.append((lastWaiter, waiter))
        return lastWaiter
    }

    mutating func leave(_ id: UInt64) {
        waiters.removeAll { $0.id == id }
        observers.removeAll { $0.id == id }
    }

    /// A number to leave with; nil if the state is not the one the observer knows.
    mutating func observe(_ waiter: Waiter, after known: TransferControl.Motion?) -> UInt64? {
        guard motion == known else { return nil }
        lastWaiter += 1
        observers.append((lastWaiter, waiter))
        return lastWaiter
    }

    /// Takes out the observers, to be told that it has been suspended.
    mutating func takeObservers() -> [Waiter] {
        defer { observers = [] }
        return observers.map(\.waiter)
    }

    private mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters.map(\.waiter) + takeObservers()
    }
}
