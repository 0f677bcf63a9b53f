/// What the task of an `ActivityMonitor` takes, in order.
enum ActivityEvent: Sendable {
    typealias Work = @Sendable (isolated ActivityMonitor) async -> Void

    /// Something may have begun or ended.
    case ring
    /// Somebody waits until this is done.
    case work(Work, CheckedContinuation<Void, Never>)
    /// The time of the alarm with this number has come.
    case waited(UInt64)
    /// Nobody reads these changes any more.
    case forget(UInt64)
    /// The monitor is gone, and followed these sessions.
    case left([FollowedSession])
}

extension AsyncStream<ActivityEvent> {
    /// Takes one after the other to the end of the stream. `take` returns what to wait for meanwhile: a child does, and
    /// is cancelled once it is to be something else.
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

/// A time that a monitor waits for, from when this was made, whenever it is waited for.
struct ActivityAlarm: Sendable, Equatable {
    let number: UInt64
    /// Returns at that time, or once its task is cancelled.
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
