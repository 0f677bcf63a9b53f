internal import DunlinReactor

/// Says when a time has come by the clock of a session's loop, for what waits outside of the session's requests.
///
/// It belongs to one owner, and rings no more once that lets go of it, but for a ring that is on its way.
package struct LoopAlarm: ~Copyable {
    private let reactor: Reactor
    private let bell: Bell
    /// Nil as long as it was never set.
    private var token: UInt64?

    /// `ring` is called on the loop, and must not wait there.
    package init(on session: HTTPSession, _ ring: @escaping @Sendable () -> Void) {
        (reactor, bell) = (session.core.loops[0], Bell(ring))
    }

    deinit {
        if let token { reactor.forget(token) }
    }

    /// Has it ring at `time`, or before if it was set to an earlier one: then it is to be set again.
    package mutating func set(_ time: HTTP.Instant) {
        if let token { reactor.schedule(token, at: time) } else { token = reactor.schedule(bell, at: time) }
    }

    private final class Bell: Timed {
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
