internal import DunlinReactor
internal import DunlinTypes

/// The limits of one exchange as points in time: each phase's own, and the request's as a whole above all of them.
struct ExchangeClock: Sendable {
    let reactor: Reactor
    let request: TransportRequest

    init(_ request: TransportRequest, on reactor: Reactor) {
        self.request = request
        self.reactor = reactor
    }

    /// When everything must be over.
    private var total: MonotonicTime { request.deadline }

    func limit(of phase: HTTP.Phase) -> Duration? { request.timeouts[phase] }

    func now() -> MonotonicTime { reactor.now() }

    func deadline(for phase: HTTP.Phase, from start: MonotonicTime) -> MonotonicTime {
        min(request.timeouts.deadline(for: phase, from: start), total)
    }

    /// Which limit a wait that began at `start` in `phase` ran into.
    func exceeded(_ phase: HTTP.Phase, at now: MonotonicTime) -> HTTP.Phase {
        total <= now ? .total : phase
    }
}
