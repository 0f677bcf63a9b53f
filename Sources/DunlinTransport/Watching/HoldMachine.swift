internal import DunlinTypes

/// Whether a transfer may go on, how long it was held, and who waits for it to go on.
///
/// Rules:
/// 1. Held or moving: holding twice is holding once, and one release lets it move, however often it was held.
/// 2. Time held is summed up, so that whoever has a limit can take off what was none of the peer's fault.
/// 3. Once over, nothing changes it any more, and nobody waits.
struct HoldMachine<Waiter> {
    private enum State: Equatable {
        case moving
        case held(since: MonotonicTime)
        case over
    }

    private var state = State.moving
    private var heldBefore: Int64 = 0
    private var waiters: [(id: UInt64, waiter: Waiter)] = []
    private var lastWaiter: UInt64 = 0

    var isHeld: Bool {
        if case .held = state { true } else { false }
    }

    /// Nanoseconds held so far, the present hold included.
    func heldTime(at now: MonotonicTime) -> Int64 {
        guard case .held(let since) = state else { return heldBefore }
        return heldBefore + max(0, now.nanoseconds - since.nanoseconds)
    }

    /// Whether that changed anything.
    mutating func hold(at now: MonotonicTime) -> Bool {
        guard state == .moving else { return false }
        state = .held(since: now)
        return true
    }

    /// Those who may go on; nil if it was not held.
    mutating func release(at now: MonotonicTime) -> [Waiter]? {
        guard isHeld else { return nil }
        heldBefore = heldTime(at: now)
        state = .moving
        return takeWaiters()
    }

    /// Those who need not wait any more.
    mutating func end(at now: MonotonicTime) -> [Waiter] {
        heldBefore = heldTime(at: now)
        state = .over
        return takeWaiters()
    }

    /// A number to leave with; nil if there is nothing to wait for.
    mutating func wait(_ waiter: Waiter) -> UInt64? {
        guard isHeld else { return nil }
        lastWaiter += 1
        waiters.append((lastWaiter, waiter))
        return lastWaiter
    }

    mutating func leave(_ id: UInt64) {
        waiters.removeAll { $0.id == id }
    }

    private mutating func takeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }
}
