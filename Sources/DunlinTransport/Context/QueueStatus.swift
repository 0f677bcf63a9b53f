public import DunlinTypes

/// The status of an observed call in its queue: its priority and position.
///
/// The call waits in one queue at a time. Of two changes of priority the later one counts, here and in the queue: the
/// queue is told under the control's lock, and takes its own lock within. The parts of a call with several exchanges
/// are told in the same way; each has its own position.
public struct QueueStatus: Sendable {
    struct State {
        var priority: HTTP.Priority
        var position: (any QueuePosition)?
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
            state.position?.move(to: priority)
            for part in state.parts { part.control?.queueStatus.setPriority(priority) }
        }
    }

    /// Adds one of several exchanges of the call, which gets the call's priority, now and at each change.
    func add(_ part: TransferControl) {
        control.withQueueStatus { state in
            state.parts.removeAll { $0.control == nil }
            state.parts.append(Part(control: part))
            part.queueStatus.setPriority(state.priority)
        }
    }

    /// Notes that the call now waits at `position`, and sets its current priority there.
    public func enter(_ position: any QueuePosition) {
        control.withQueueStatus { state in
            state.position = position
            position.move(to: state.priority)
        }
    }

    public func leave() {
        control.withQueueStatus { $0.position = nil }
    }

    /// Lets others go first, because the call was suspended.
    func stepAside() {
        control.withQueueStatus { $0.position }?.stepAside()
    }
}

/// A position in a queue. Its methods have no effect once its waiter has been served.
public protocol QueuePosition: Sendable {
    /// Changes the priority. Called under a lock, so it must not wake anybody.
    func move(to priority: HTTP.Priority)
    /// Ends the wait, if this queue serves only those that can continue at once.
    func stepAside()
}
