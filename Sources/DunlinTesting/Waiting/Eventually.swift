internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// Returns once `condition` holds. For whatever a test knows will be so soon, and has nothing to await for.
///
/// ```swift
/// try await eventually("the second waits", following: loop) { session.connections.waiting == 1 }
/// ```
///
/// It looks at once, and again when something of what is `followed` tells of a change; then two looks are a few
/// milliseconds apart at least, since a condition that asks an actor of the loop makes the loop turn by that alone.
/// What nobody in the process tells of, a file or a child, is looked at by `pace`, in real time. So is the rest: whom
/// to follow decides how soon a change is seen, not whether.
///
/// Throws `NeverCame`, which says `what`, when it still does not hold after `limit` of real time; `CancellationError`
/// when the task is cancelled; and what `condition` throws.
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
        // Before looking: a change after this line ends the wait at once.
        look.begin()
        let isSo = try await condition()
        if isSo { return }
        guard look.now < end else { throw NeverCame(what: what, limit: limit, fileID: fileID, line: line) }
        try await look.wait(atMost: pace, until: end)
    }
}

/// When to look again. It waits on a loop, not on a thread that others need.
private final class NextLook: Sendable {
    /// How far two looks are apart at least.
    private static let gap: Int64 = 2_000_000

    private let loop: Reactor
    private let waiter: Mutex<ValueWaiter<Void>>

    init() throws {
        loop = try ReactorGroup.shared.reactors()[0]
        waiter = Mutex(ValueWaiter(on: loop))
    }

    var now: HTTP.Instant { loop.now() }

    /// Something changed: the wait that is on, or the next, is over.
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
