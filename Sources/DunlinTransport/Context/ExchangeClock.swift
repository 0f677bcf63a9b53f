internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// The deadlines of one exchange: each phase's own, limited by the attempt's and by the call's.
struct ExchangeClock: Sendable {
    let reactor: Reactor
    let request: TransportRequest
    /// The limit of the attempt; nil without one.
    private let attempt: AttemptLimit?

    init(_ request: TransportRequest, _ control: TransferControl?, on reactor: Reactor) {
        self.request = request
        self.reactor = reactor
        attempt = request.timeouts.length(of: .attempt).map { AttemptLimit($0, control) }
    }

    /// The deadline of the call.
    var whole: HTTP.Instant { request.deadline }

    func duration(of limit: Timeouts.Limit) -> Duration? { request.timeouts[limit] }

    func now() -> HTTP.Instant { reactor.now() }

    func deadline(for phase: HTTP.Phase, from start: HTTP.Instant) -> HTTP.Instant {
        min(ownDeadline(for: phase, from: start), whole)
    }

    /// The deadline of a phase, whatever the call's is.
    func ownDeadline(for phase: HTTP.Phase, from start: HTTP.Instant) -> HTTP.Instant {
        let own = request.timeouts.deadline(for: Timeouts.Limit(phase), from: start)
        guard let attempt, phase != .pool else { return own }
        return min(own, attempt.end(in: phase, from: start))
    }

    /// The limit that a wait in `phase` has exceeded, and when that began, if not with the wait.
    func exceeded(_ phase: HTTP.Phase, at now: HTTP.Instant) -> (limit: Timeouts.Limit, since: HTTP.Instant?) {
        if whole <= now { return (.total, nil) }
        if phase != .pool, let attempt, attempt.end(in: phase, from: now) <= now { return (.attempt, attempt.start) }
        return (Timeouts.Limit(phase), nil)
    }

    /// Notes that the request has been sent, after a hop's phases on the connection. The time that this took is no part
    /// of the attempt.
    func requestWasSent(at time: HTTP.Instant, _ hop: HTTP.Hop) { attempt?.requestWasSent(at: time, hop) }

    /// Notes that the head has come, with which the attempt ends.
    func headCame() { attempt?.headCame() }
}

/// How long an attempt may take: from its first phase on a connection to the head, without the time in which the
/// request is sent, and in which it is suspended.
private final class AttemptLimit: Sendable {
    private let length: Int64
    private let control: TransferControl?
    /// When it began, in nanoseconds, as if the request had been sent in no time; 0 if it has not, and `over` once the
    /// head has come.
    private let begun = Atomic<Int64>(0)
    private static let over = Int64.max

    init(_ length: Int64, _ control: TransferControl?) {
        (self.length, self.control) = (length, control)
    }

    var start: HTTP.Instant { HTTP.Instant(nanoseconds: begun.load(ordering: .relaxed)) }

    func requestWasSent(at time: HTTP.Instant, _ hop: HTTP.Hop) {
        let used = max(0, time.nanoseconds - hop.started.nanoseconds - hop[.pool] - hop[.send])
        let before = begun.load(ordering: .relaxed)
        guard before != Self.over else { return }
        _ = begun.compareExchange(expected: before, desired: time.nanoseconds - used, ordering: .relaxed)
    }

    func headCame() { begun.store(Self.over, ordering: .relaxed) }

    /// The end, if it began at `start` or earlier.
    func end(in phase: HTTP.Phase, from start: HTTP.Instant) -> HTTP.Instant {
        if phase == .send { return .never }
        let (isNew, earlier) = begun.compareExchange(expected: 0, desired: start.nanoseconds, ordering: .relaxed)
        if earlier == Self.over { return .never }
        let begun = isNew ? start : HTTP.Instant(nanoseconds: earlier)
        return begun.advanced(by: length.addingClamped(control?.suspendedTime(since: begun) ?? 0))
    }
}
