internal import DunlinReactor
internal import DunlinTypes

/// The limits of one exchange as points in time: each phase's own, and the request's as a whole above all of them.
struct ExchangeClock: Sendable {
    let reactor: Reactor
    let timeouts: Timeouts
    /// When everything must be over.
    let total: MonotonicTime

    func now() -> MonotonicTime { reactor.now() }

    func deadline(for phase: Phase, from start: MonotonicTime) -> MonotonicTime {
        min(timeouts.deadline(for: phase, from: start), total)
    }

    /// Which limit a wait that began at `start` in `phase` ran into.
    func exceeded(_ phase: Phase, at now: MonotonicTime) -> Phase {
        total <= now ? .total : phase
    }
}
