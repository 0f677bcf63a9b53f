public import DunlinTypes

/// The status of an observed call in the queue it waits in: its priority and its position.
///
/// The call waits in one queue at a time. Of two changes of priority the later one counts, here as well as in the
/// queue: the queue is told under the control's lock, and takes its own within it. The parts of a call that has several
/// exchanges are told in the same way; each of them has a position of its own.
public struct QueueStatus: Sendable {
    struct State {
        var priority: HTTP.Priority
        var place: (any QueuePosition)?
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

    /// Adds one of several exchanges of the call, which has the call's priority, whenever that changes.
    func add(_ part: TransferControl) {
        control.withQueueStatus { state in
            state.parts.removeAll { $0.control == nil }
            state.parts.append(Part(control: part))
            part.queueStatus.setPriority(state.priority)
        }
    }

    /// The call waits at `place` now, with the priority that it has by now.
    public func enter(_ place: any QueuePosition) {
        control.withQueueStatus { state in
            state.place = place
            place.move(to: state.priority)
        }
    }

    public func leave() {
        control.withQueueStatus { $0.place = nil }
    }

    /// The call was suspended: let others go first.
    func stepAside() {
        control.withQueueStatus { $0.place }?.stepAside()
    }
}

/// A position in a queue. Its functions have no effect once its waiter has been served.
public protocol QueuePosition: Sendable {
    /// Called under a lock, so it must not wake anybody.
    func move(to priority: HTTP.Priority)
    /// Ends the wait, if this queue serves only those who can go on at once.
    func stepAside()
}
