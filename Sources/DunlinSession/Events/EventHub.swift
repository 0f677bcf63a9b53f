internal import Synchronization

/// Tells a session's events to its observers.
///
/// Rules:
/// 1. Every observer gets the events in the same order. Whoever adds an event while nobody is telling tells all that is
///    there, outside the lock: observers are never resumed under it.
/// 2. An observer that does not keep up loses the oldest events; it delays neither requests nor other observers.
/// 3. After the last event every stream ends; an observer that comes later gets what happens later. Releasing the hub
///    ends the streams too, for there will be no more events.
package final class EventHub: Sendable {
    typealias Stream = AsyncStream<HTTPSession.Event>

    private enum Step {
        case tell(HTTPSession.Event)
        case join(UInt64, Stream.Continuation)
        case leave(UInt64)
        case end
    }

    private struct State {
        var steps: [Step] = []
        var isTelling = false
        var listeners: [UInt64: Stream.Continuation] = [:]
        var lastListener: UInt64 = 0
    }

    private let state = Mutex(State())
    private let count: Atomic<Int>

    /// `always`: others than observers of events, such as hooks, observe every request.
    init(always: Bool) {
        count = Atomic(always ? 1 : 0)
    }

    deinit {
        for listener in state.withLock({ $0.listeners }).values { listener.finish() }
    }

    /// Whether there are observers. Checked for each request.
    var hasObservers: Bool { count.load(ordering: .relaxed) > 0 }

    /// All events from now on; the newest `capacity` of them are kept for an observer that is busy.
    func listen(keeping capacity: Int) -> Stream {
        let (stream, continuation) = Stream.makeStream(bufferingPolicy: .bufferingNewest(max(1, capacity)))
        let id = state.withLock { state in
            state.lastListener += 1
            return state.lastListener
        }
        count.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in
            self?.count.subtract(1, ordering: .relaxed)
            self?.take(.leave(id))
        }
        take(.join(id, continuation))
        return stream
    }

    /// Must not be called under a lock.
    package func tell(_ event: @autoclosure () -> HTTPSession.Event) {
        if hasObservers { take(.tell(event())) }
    }

    /// Ends every stream.
    func end() {
        take(.end)
    }

    private func take(_ step: Step) {
        let isFirst = state.withLock { state in
            state.steps.append(step)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        if isFirst { tellAll() }
    }

    private func tellAll() {
        while true {
            let (steps, listeners) = state.withLock { state in
                defer { state.steps = [] }
                if state.steps.isEmpty { state.isTelling = false }
                return (state.steps, state.listeners)
            }
            if steps.isEmpty { return }
            let left = Self.perform(steps, listeners)
            state.withLock { $0.listeners = left }
        }
    }

    private static func perform(
        _ steps: [Step], _ listeners: [UInt64: Stream.Continuation]
    ) -> [UInt64: Stream.Continuation] {
        var listeners = listeners
        for step in steps {
            switch step {
            case .tell(let event): for listener in listeners.values { listener.yield(event) }
            case .join(let id, let listener): listeners[id] = listener
            case .leave(let id): listeners[id] = nil
            case .end:
                let all = listeners.values
                listeners = [:]
                for listener in all { listener.finish() }
            }
        }
        return listeners
    }
}
