internal import DunlinTypes

/// Decides which address is tried when, and which has won (RFC 8305 §5).
///
/// Rules:
/// 1. Addresses are tried in the order given. The next attempt starts when the one before it has failed or exceeded the
///    delay; a slow one continues in parallel.
/// 2. The failure of an older attempt does not start the next one earlier: the newest has its own delay.
/// 3. The first success wins; the driver closes the others.
/// 4. When the deadline passes, the race is over for all, and nothing starts any more.
/// 5. The machine knows addresses only by index, opens nothing and reads no clock.
struct AddressRaceMachine {
    enum Action: Equatable {
        /// Try this address. If it has no outcome by then, call `slow`.
        case start(Int, until: HTTP.Instant)
        /// Wait for the running attempts.
        case wait
        case win(Int)
        /// The last attempt has failed.
        case fail
        /// The deadline has passed.
        case giveUp
    }

    private let count: Int
    private let delay: Int64
    private let deadline: HTTP.Instant
    /// The next address to try.
    private var next = 0
    private var underway = 0

    /// Creates a machine; `delay` is in nanoseconds.
    init(count: Int, delay: Int64, deadline: HTTP.Instant) {
        self.count = count
        self.delay = delay
        self.deadline = deadline
    }

    mutating func begin(at now: HTTP.Instant) -> Action {
        count == 0 ? .fail : start(at: now)
    }

    mutating func failed(_ address: Int, at now: HTTP.Instant) -> Action {
        underway -= 1
        if isNewest(address), next < count { return start(at: now) }
        return underway == 0 ? .fail : .wait
    }

    /// Notes that the time given with an attempt has passed.
    mutating func slow(_ address: Int, at now: HTTP.Instant) -> Action {
        if now >= deadline { return .giveUp }
        return isNewest(address) && next < count ? start(at: now) : .wait
    }

    func connected(_ address: Int) -> Action { .win(address) }

    private func isNewest(_ address: Int) -> Bool { address == next - 1 }

    private mutating func start(at now: HTTP.Instant) -> Action {
        if now >= deadline { return .giveUp }
        next += 1
        underway += 1
        let waitEnd = next < count ? min(now.advanced(by: delay), deadline) : deadline
        return .start(next - 1, until: waitEnd)
    }
}
