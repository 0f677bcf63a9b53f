/// An event that the task of an `ActivityMonitor` handles, in order.
enum ActivityEvent: Sendable {
    typealias Work = @Sendable (isolated ActivityMonitor) async -> Void

    /// Work may have begun or ended.
    case ring
    /// A caller waits until this work is done.
    case work(Work, CheckedContinuation<Void, Never>)
    /// The alarm with this number has gone off.
    case waited(UInt64)
    /// Nobody reads this stream of changes any more.
    case forget(UInt64)
    /// The monitor is gone; it followed these sessions.
    case left([FollowedSession])
}

extension AsyncStream<ActivityEvent> {
    /// Handles one event after another to the end of the stream. `take` returns the alarm to wait for meanwhile: a
    /// child task does, and is cancelled when the alarm changes.
    func takeAll(_ take: (ActivityEvent) async -> ActivityAlarm?) async {
        var (events, alarm, isOver) = (makeAsyncIterator(), ActivityAlarm?.none, false)
        while !isOver {
            await withTaskGroup(of: Void.self) { group in
                let present = alarm
                if let present { group.addTask { await present.ring() } }
                while alarm == present, !isOver {
                    switch await events.next() {
                    case nil: isOver = true
                    case .left(let sessions): for var followed in sessions { await followed.unfollow() }
                    case let event?: alarm = await take(event)
                    }
                }
                group.cancelAll()
            }
        }
    }
}

/// A time that a monitor waits for. It is counted from when the alarm was created, whenever the wait begins.
struct ActivityAlarm: Sendable, Equatable {
    let number: UInt64
    /// Returns at that time, or when its task is cancelled.
    let ring: @Sendable () async -> Void

    init<C: Clock<Duration>>(
        _ number: UInt64, after time: Duration, _ clock: C, _ events: AsyncStream<ActivityEvent>.Continuation
    ) {
        let end = clock.now.advanced(by: time.clamped)
        self.number = number
        ring = {
            do { try await clock.sleep(until: end, tolerance: nil) } catch { return }
            events.yield(.waited(number))
        }
    }

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
}
