internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// Returns when `condition` holds. Use it for what a test knows will happen soon but cannot await.
///
/// ```swift
/// try await eventually("the second waits", following: loop) { session.connections.waiting == 1 }
/// ```
///
/// It looks at once, and again when anything `followed` reports a change. Such looks are at least a few milliseconds
/// apart, because a condition that asks an actor of the loop already makes the loop turn. It also looks at intervals of
/// `pace`, in real time, for changes that nothing in the process reports, such as of a file or a child process. So what
/// is followed determines how soon a change is seen, not whether.
///
/// Throws `NeverCame` with `what` if the condition does not hold after `limit` of real time, `CancellationError` if the
/// task is cancelled, and any error of `condition`.
public func eventually(
    _ what: String, following followed: any Followed..., every pace: Duration = .milliseconds(10),
    within limit: Duration = .patience, fileID: String = #fileID, line: Int = #line,
    _ condition: () async throws -> Bool
) async throws {
    let look = try NextLook()
    let ends = followed.map { $0.follow { look.isDue() } }
    defer { for end in ends { end() } }
    let end = look.now.advanced(by: limit.clampedNanoseconds)
    while true {
        // Before looking, so that a change after this line ends the wait at once.
        look.begin()
        let isSo = try await condition()
        if isSo { return }
        guard look.now < end else { throw NeverCame(what: what, limit: limit, fileID: fileID, line: line) }
        try await look.wait(atMost: pace, until: end)
    }
}

/// The time of the next look. It waits on a loop, not on a thread that others need.
private final class NextLook: Sendable {
    /// The shortest time between two looks.
    private static let gap: Int64 = 2_000_000

    private let loop: Reactor
    private let waiter: Mutex<ValueWaiter<Void>>

    init() throws {
        loop = try ReactorGroup.shared.reactors()[0]
        waiter = Mutex(ValueWaiter(on: loop))
    }

    var now: HTTP.Instant { loop.now() }

    /// Ends the current or next wait, since something changed.
    func isDue() {
        _ = waiter.withLock { $0 }.deliver(())
    }

    func begin() {
        waiter.withLock { $0 = ValueWaiter(on: loop) }
    }

    func wait(atMost pace: Duration, until end: HTTP.Instant) async throws {
        let (start, waiter) = (now, waiter.withLock { $0 })
        let next = min(end, start.advanced(by: pace.clampedNanoseconds))
        await withTaskCancellationHandler {
            _ = await waiter.wait(until: next, cancellation: nil)
        } onCancel: {
            waiter.cancel()
        }
        let left = min(next, start.advanced(by: Self.gap)).nanoseconds - now.nanoseconds
        if left > 0 { _ = await loop.rest(nanoseconds: left) }
        try Task.checkCancellation()
    }
}
