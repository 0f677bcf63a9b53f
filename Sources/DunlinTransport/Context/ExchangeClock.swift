internal import DunlinReactor
internal import DunlinTypes

/// The deadlines of one exchange: each phase's own, limited by the call's.
struct ExchangeClock: Sendable {
    let reactor: Reactor
    let request: TransportRequest

    init(_ request: TransportRequest, on reactor: Reactor) {
        self.request = request
        self.reactor = reactor
    }

    /// The deadline of the call.
    var whole: HTTP.Instant { request.deadline }

    func duration(of limit: Timeouts.Limit) -> Duration? { request.timeouts[limit] }

    func now() -> HTTP.Instant { reactor.now() }

    func deadline(for phase: HTTP.Phase, from start: HTTP.Instant) -> HTTP.Instant {
        min(request.timeouts.deadline(for: Timeouts.Limit(phase), from: start), whole)
    }

    /// The limit that a wait in `phase` has exceeded.
    func exceeded(_ phase: HTTP.Phase, at now: HTTP.Instant) -> Timeouts.Limit {
        whole <= now ? .total : Timeouts.Limit(phase)
    }
}
