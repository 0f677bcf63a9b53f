internal import DunlinReactor

/// An alarm on the clock of a session's loop, for waits outside the session's requests.
///
/// It belongs to one owner. After its release it does not ring, except for a ring already under way.
package struct LoopAlarm: ~Copyable {
    private let reactor: Reactor
    private let timer: Timer
    /// The alarm's token; nil if it was never set.
    private var token: UInt64?

    /// Creates an alarm. `ring` is called on the loop and must not wait there.
    package init(on session: HTTPSession, _ ring: @escaping @Sendable () -> Void) {
        (reactor, timer) = (session.core.loops[0], Timer(ring))
    }

    deinit {
        if let token { reactor.forget(token) }
    }

    /// Sets the alarm to `time`. It rings earlier if it was set to an earlier time, and must then be set again.
    package mutating func set(_ time: HTTP.Instant) {
        if let token { reactor.schedule(token, at: time) } else { token = reactor.schedule(timer, at: time) }
    }

    private final class Timer: Timed {
        private let ring: @Sendable () -> Void

        init(_ ring: @escaping @Sendable () -> Void) {
            self.ring = ring
        }

        func deadlinePassed(at now: HTTP.Instant) -> HTTP.Instant {
            ring()
            return .never
        }
    }
}
