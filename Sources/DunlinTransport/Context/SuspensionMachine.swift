internal import DunlinTypes

/// Records whether a transfer is suspended, how long it was, and who waits for its resumption.
///
/// Rules:
/// 1. A transfer is suspended or moving. Suspending it twice has the same effect as once, and one resume suffices.
/// 2. Suspended time is recorded, so that a limit can exclude it from a wait: it was not the peer's fault. Very many
///    suspensions are merged, the oldest first.
/// 3. After its end nothing changes, and nobody waits.
/// 4. An observer is told of the next change, and must ask again.
struct SuspensionMachine<Waiter> {
    private struct Suspension {
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
    private var suspensions: [Suspension] = []
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

    /// Whether it was never suspended, so that no time has to be excluded.
    var isUntouched: Bool { state == .moving && suspensions.isEmpty }

    var isSuspended: Bool {
        if case .suspended = state { true } else { false }
    }

    /// The time suspended from `time` on, including a current suspension, in nanoseconds.
    func suspendedTime(since time: HTTP.Instant, at now: HTTP.Instant) -> Int64 {
        suspensions.reduce(present(at: now)?.length(since: time) ?? 0) { $0 + $1.length(since: time) }
    }

    private func present(at now: HTTP.Instant) -> Suspension? {
        guard case .suspended(let since) = state else { return nil }
        return Suspension(start: since, length: max(0, now.nanoseconds - since.nanoseconds))
    }

    private mutating func endSuspension(at now: HTTP.Instant) {
        guard let suspension = present(at: now) else { return }
        suspensions.append(suspension)
        guard suspensions.count > Self.remembered else { return }
        suspensions[1].length += suspensions[0].length
        suspensions[1] = Suspension(start: suspensions[0].start, length: suspensions[1].length)
        suspensions.removeFirst()
    }

    /// Suspends the transfer. Returns whether that changed anything.
    mutating func suspend(at now: HTTP.Instant) -> Bool {
        guard state == .moving else { return false }
        state = .suspended(since: now)
        return true
    }

    /// Resumes the transfer. Returns the waiters and observers; nil if it was not suspended.
    mutating func resume(at now: HTTP.Instant) -> [Waiter]? {
        guard isSuspended else { return nil }
        endSuspension(at: now)
        state = .moving
        return takeWaiters()
    }

    /// Ends the transfer. Returns the waiters and observers.
    mutating func end(at now: HTTP.Instant) -> [Waiter] {
        endSuspension(at: now)
        state = .over
        return takeWaiters()
    }

    /// Adds a waiter. Returns a number to leave with; nil if there is nothing to wait for.
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

    /// Adds an observer. Returns a number to leave with; nil if the state differs from the known one.
    mutating func observe(_ waiter: Waiter, after known: TransferControl.Motion?) -> UInt64? {
        guard motion == known else { return nil }
        lastWaiter += 1
        observers.append((lastWaiter, waiter))
        return lastWaiter
    }

    /// Takes the observers, to tell them of a suspension.
    mutating func takeObservers() -> [Waiter] {
        defer { observers = [] }
        return observers.map(\.waiter)
    }

    private mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters.map(\.waiter) + takeObservers()
    }
}
