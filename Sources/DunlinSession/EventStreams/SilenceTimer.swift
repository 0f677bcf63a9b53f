internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Cancels the request of a stream on which nothing happens for too long while somebody waits for it. The time for
/// which the request is suspended does not count.
///
/// The loop calls it at the earliest time at which that may be, so that an event costs no change of the loop's timers.
final class SilenceTimer: Timed {
    private let limit: Int64
    private let delegate: TaskDelegate
    /// When the present wait began, on the loop's clock; `never` if nobody waits.
    private let start = Atomic(HTTP.Instant.never.nanoseconds)
    private let rang = Atomic(false)

    init(_ limit: Duration, _ delegate: TaskDelegate) {
        self.limit = limit.clampedNanoseconds
        self.delegate = delegate
    }

    /// Whether the request was cancelled because of silence.
    var hasRung: Bool { rang.load(ordering: .relaxed) }

    func waitBegan() { start.store(delegate.loop.now().nanoseconds, ordering: .relaxed) }

    func waitEnded() { start.store(HTTP.Instant.never.nanoseconds, ordering: .relaxed) }

    /// The timer's token in the loop.
    func begin() -> UInt64 { delegate.loop.schedule(self, at: delegate.loop.now().advanced(by: limit)) }

    func end(_ token: UInt64) { delegate.loop.forget(token) }

    func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
        let start = HTTP.Instant(nanoseconds: start.load(ordering: .relaxed))
        if start == .never { return now.advanced(by: limit) }
        // A suspension is no silence of the server's.
        let held = delegate.observers?.control.suspendedTime(since: start) ?? 0
        let end = start.advanced(by: limit.addingClamped(held))
        if now < end { return end }
        rang.store(true, ordering: .relaxed)
        delegate.cancel(.handle)
        return .never
    }
}
