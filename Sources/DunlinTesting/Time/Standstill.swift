internal import Glibc
internal import Synchronization

/// Notices that a manual clock has not been moved for five seconds of real time while somebody waits for it, and
/// reports that. Otherwise such a test would wait for ever without a hint.
final class Standstill: Sendable {
    /// Returns what waits for the clock, and the clock's time; nil if nothing waits.
    typealias Look = @Sendable () -> (waiting: String, now: Duration)?

    static let limit = Duration.seconds(5)

    private let isObserving = Mutex(false)
    private let limit: Duration
    private let say: @Sendable (String) -> Void

    init(after limit: Duration = Standstill.limit, say: @escaping @Sendable (String) -> Void = Standstill.print) {
        self.limit = limit
        self.say = say
    }

    /// Call this when somebody begins to wait. One task watches for all of them, and ends when nobody waits.
    func begin(_ look: @escaping Look) {
        let isFirst = isObserving.withLock { isObserving in
            defer { isObserving = true }
            return !isObserving
        }
        if isFirst { Task.detached { await self.observe(look) } }
    }

    private func observe(_ look: Look) async {
        var shown: Duration?
        while let before = lookOrEnd(look) {
            do { try await Task.sleep(for: limit) } catch { return }
            // A standstill is reported once.
            if let after = look(), after.now == before.now, after.now != shown {
                shown = after.now
                say(
                    """
                    ManualClock: not moved for \(limit) of real time. It shows \(after.now); waiting: \
                    \(after.waiting). Move it with `advance(by:)`, or wrap the wait in `skippingWaits`.
                    """)
            }
        }
    }

    /// Looks, or ends the task. Whoever begins to wait later begins a new one.
    private func lookOrEnd(_ look: Look) -> (waiting: String, now: Duration)? {
        isObserving.withLock { isObserving in
            let seen = look()
            isObserving = seen != nil
            return seen
        }
    }

    private static let print: @Sendable (String) -> Void = { text in
        _ = "\(text)\n".withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
