public import DunlinTypes
internal import Synchronization

/// How a watched request stands in whatever line it waits in: with what priority, where, and how long it waited before.
///
/// It waits in one line at a time. Of two changes of priority the later counts, here as well as in the line: the line
/// is told under the lock, and takes its own within it. So are the parts of a request that several exchanges bring,
/// each of which stands in line for itself.
public final class Standing: Sendable {
    private struct State {
        var priority: RequestPriority
        var place: (any LinePlace)?
        var queuedUntil = MonotonicTime.never
        var queuedTime: Int64 = 0
        var parts: [Part] = []
    }

    private struct Part {
        weak var standing: Standing?
    }

    private let state: Mutex<State>

    public init(_ priority: RequestPriority) {
        state = Mutex(State(priority: priority))
    }

    /// For one of several exchanges of a request: it has the priority of the whole, whenever that changes.
    init(partOf whole: Standing) {
        state = Mutex(State(priority: .normal))
        whole.add(self)
    }

    private func add(_ part: Standing) {
        state.withLock { state in
            state.parts.removeAll { $0.standing == nil }
            state.parts.append(Part(standing: part))
            part.setPriority(state.priority)
        }
    }

    public var priority: RequestPriority { state.withLock { $0.priority } }

    public func setPriority(_ priority: RequestPriority) {
        state.withLock { state in
            state.priority = priority
            state.place?.move(to: priority)
            for part in state.parts { part.standing?.setPriority(priority) }
        }
    }

    /// The request waits at `place` now, with the priority that it has by now.
    public func enter(_ place: any LinePlace) {
        state.withLock { state in
            state.place = place
            place.move(to: state.priority)
        }
    }

    public func leave() {
        state.withLock { $0.place = nil }
    }

    /// The request is held: let others go first.
    func stepAside() {
        state.withLock { $0.place }?.stepAside()
    }

    /// The request waited in a queue for so many nanoseconds, and until then.
    public func queued(_ time: Int64, until end: MonotonicTime) {
        state.withLock { ($0.queuedTime, $0.queuedUntil) = (time, end) }
    }

    /// Nanoseconds that an exchange waited in a queue which began right after.
    func queuedTime(until start: MonotonicTime) -> Int64 {
        state.withLock { $0.queuedUntil == start ? $0.queuedTime : 0 }
    }
}

/// A place in a line. Harmless when who stood there has been served.
public protocol LinePlace: Sendable {
    /// Called under a lock: must not wake anybody.
    func move(to priority: RequestPriority)
    /// Ends the wait, if this line serves only those who can go on at once.
    func stepAside()
}
