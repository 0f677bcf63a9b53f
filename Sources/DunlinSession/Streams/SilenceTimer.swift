internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Ends what is waited for in vain: it rings when nothing has happened for too long while somebody waits. The time for
/// which the request is suspended does not count.
///
/// The loop calls it at the earliest time at which that may be, so that an event costs no change of the loop's timers.
final class SilenceTimer: Timed {
    private let limit: Int64
    private let loop: Reactor
    private let control: TransferControl?
    private let ring: @Sendable () -> Void
    /// When the present wait began, on the loop's clock; `never` if nobody waits.
    private let start = Atomic(HTTP.Instant.never.nanoseconds)
    private let rang = Atomic(false)

    /// `ring` is called on the loop, once.
    init(_ limit: Duration, on loop: Reactor, _ control: TransferControl?, _ ring: @escaping @Sendable () -> Void) {
        self.limit = limit.clampedNanoseconds
        (self.loop, self.control, self.ring) = (loop, control, ring)
    }

    /// Whether the silence was too long.
    var hasRung: Bool { rang.load(ordering: .relaxed) }

    func waitBegan() { start.store(loop.now().nanoseconds, ordering: .relaxed) }

    func waitEnded() { start.store(HTTP.Instant.never.nanoseconds, ordering: .relaxed) }

    /// The timer's token in the loop.
    func begin() -> UInt64 { loop.schedule(self, at: loop.now().advanced(by: limit)) }

    func end(_ token: UInt64) { loop.forget(token) }

    func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
        let start = HTTP.Instant(nanoseconds: start.load(ordering: .relaxed))
        if start == .never { return now.advanced(by: limit) }
        // A suspension is no silence of the server's.
        let held = control?.suspendedTime(since: start) ?? 0
        let end = start.advanced(by: limit.addingClamped(held))
        if now < end { return end }
        rang.store(true, ordering: .relaxed)
        ring()
        return .never
    }
}
