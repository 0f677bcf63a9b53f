public import DunlinTypes

/// How a watched request stands in whatever line it waits in: with what priority, where, and how long it waited before.
///
/// It waits in one line at a time. Of two changes of priority the later counts, here as well as in the line: the line
/// is told under the watch's lock, and takes its own within it. So are the parts of a request that several exchanges
/// bring, each of which stands in line for itself.
public struct QueueStatus: Sendable {
    struct State {
        var priority: HTTP.Priority
        var place: (any QueuePosition)?
        var queuedUntil = MonotonicTime.never
        var queuedTime: Int64 = 0
        var parts: [Part] = []
    }

    struct Part {
        weak var control: TransferControl?
    }

    let control: TransferControl

    public var priority: HTTP.Priority { control.withQueueStatus { $0.priority } }

    public func setPriority(_ priority: HTTP.Priority) {
        control.withQueueStatus { state in
            state.priority = priority
            state.place?.move(to: priority)
            for part in state.parts { part.control?.queueStatus.setPriority(priority) }
        }
    }

    /// One of several exchanges of the request has its priority, whenever that changes.
    func add(_ part: TransferControl) {
        control.withQueueStatus { state in
            state.parts.removeAll { $0.control == nil }
            state.parts.append(Part(control: part))
            part.queueStatus.setPriority(state.priority)
        }
    }

    /// The request waits at `place` now, with the priority that it has by now.
    public func enter(_ place: any QueuePosition) {
        control.withQueueStatus { state in
            state.place = place
            place.move(to: state.priority)
        }
    }

    public func leave() {
        control.withQueueStatus { $0.place = nil }
    }

    /// The request is held: let others go first.
    func stepAside() {
        control.withQueueStatus { $0.place }?.stepAside()
    }

    /// The request waited in a queue for so many nanoseconds, and until then.
    public func queued(_ time: Int64, until end: MonotonicTime) {
        control.withQueueStatus { ($0.queuedTime, $0.queuedUntil) = (time, end) }
    }

    /// Nanoseconds that an exchange waited in a queue which began right after.
    func queuedTime(until start: MonotonicTime) -> Int64 {
        control.withQueueStatus { $0.queuedUntil == start ? $0.queuedTime : 0 }
    }
}

/// A place in a line. Harmless when who stood there has been served.
public protocol QueuePosition: Sendable {
    /// Called under a lock: must not wake anybody.
    func move(to priority: HTTP.Priority)
    /// Ends the wait, if this line serves only those who can go on at once.
    func stepAside()
}
