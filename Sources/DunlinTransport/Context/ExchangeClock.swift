internal import DunlinReactor
internal import DunlinTypes

/// The deadlines of one exchange: each phase's own, and the call's above all of them.
struct ExchangeClock: Sendable {
    let reactor: Reactor
    let request: TransportRequest

    init(_ request: TransportRequest, on reactor: Reactor) {
        self.request = request
        self.reactor = reactor
    }

    /// The call's deadline.
    private var total: MonotonicTime { request.deadline }

    func limit(of phase: HTTP.Phase) -> Duration? { request.timeouts[phase] }

    func now() -> MonotonicTime { reactor.now() }

    func deadline(for phase: HTTP.Phase, from start: MonotonicTime) -> MonotonicTime {
        min(request.timeouts.deadline(for: phase, from: start), total)
    }

    /// The limit that a wait which began at `start` in `phase` has exceeded.
    func exceeded(_ phase: HTTP.Phase, at now: MonotonicTime) -> HTTP.Phase {
        total <= now ? .total : phase
    }
}
