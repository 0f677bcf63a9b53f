internal import Synchronization

/// Delivers a session's events to its observers.
///
/// Rules:
/// 1. Every observer gets the events in the same order. Whoever adds an event while nobody is delivering delivers all
///    that are there, outside the lock: observers are never resumed under it.
/// 2. An observer that does not keep up loses the oldest events; it delays neither requests nor other observers.
/// 3. After the last event every stream ends; a later observer gets later events. Releasing the hub ends the streams
///    too, since there will be no more events.
package final class EventHub: Sendable {
    typealias Stream = AsyncStream<HTTPSession.Event>

    private enum Step {
        // Indirect, because what copies an event in place weighs 20 KB in every program.
        indirect case tell(HTTPSession.Event)
        case join(UInt64, Stream.Continuation)
        case leave(UInt64)
        case end
    }

    private struct State {
        var steps: [Step] = []
        var isReporting = false
        var observers: [UInt64: Stream.Continuation] = [:]
        var lastObserver: UInt64 = 0
        /// The readers of the trace, who count as observers.
        var traceReaders = TraceReaders()
        /// The task that reports changes of the network.
        var reachabilityTask: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let count: Atomic<Int>
    private let isAlwaysObserved: Bool

    /// Creates a hub. `always`: every request is observed by something other than event observers, such as hooks.
    init(always: Bool) {
        count = Atomic(always ? 1 : 0)
        isAlwaysObserved = always
    }

    deinit {
        takeReachabilityTask()?.cancel()
        for reader in state.withLock({ $0.traceReaders.removeAll() }) { reader.end() }
        for observer in state.withLock({ $0.observers }).values { observer.finish() }
    }

    /// Whether there are observers. Checked for each request.
    var hasObservers: Bool { count.load(ordering: .relaxed) > 0 }

    /// Whether somebody reads the events or the trace.
    var hasReaders: Bool { count.load(ordering: .relaxed) > (isAlwaysObserved ? 1 : 0) }

    /// All events from now on; the newest `capacity` are buffered for a busy observer.
    func observe(bufferingNewest capacity: Int) -> Stream {
        let (stream, continuation) = Stream.makeStream(bufferingPolicy: .bufferingNewest(max(1, capacity)))
        let id = state.withLock { state in
            state.lastObserver += 1
            return state.lastObserver
        }
        count.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in
            self?.count.subtract(1, ordering: .relaxed)
            self?.take(.leave(id))
        }
        take(.join(id, continuation))
        return stream
    }

    /// Delivers an event. Must not be called under a lock.
    package func tell(_ event: @autoclosure () -> HTTPSession.Event) {
        if hasObservers { take(.tell(event())) }
    }

    /// Adds an event in its order without delivering it, which is allowed under a lock. If it returns true, `tellAll`
    /// must be called afterwards.
    func note(_ event: HTTPSession.Event) -> Bool { append(.tell(event)) }

    /// The rest of the work for an end that was noted.
    struct Ending {
        fileprivate let hasToTell: Bool
        fileprivate let readers: [TraceReader]
    }

    /// Ends all current streams after these last events without delivering them, which is allowed under a lock. `tell`
    /// must be called afterwards.
    func noteEnd(after events: HTTPSession.Event...) -> Ending {
        let hasToTell = (events.map { append(.tell($0)) } + [append(.end)]).contains(true)
        let readers = state.withLock { $0.traceReaders.removeAll() }
        count.subtract(readers.count, ordering: .relaxed)
        return Ending(hasToTell: hasToTell, readers: readers)
    }

    /// Delivers a noted end. Must not be called under a lock.
    func tell(_ ending: Ending) {
        if ending.hasToTell { tellAll() }
        for reader in ending.readers { reader.end() }
    }

    /// The current readers of the trace.
    var tracers: [TraceReader] { state.withLock { $0.traceReaders.all } }

    /// The trace for `reader` from now on. The reader is removed when the stream is released.
    func trace(_ reader: TraceReader) -> AsyncStream<HTTPSession.TraceEvent> {
        let number = state.withLock { $0.traceReaders.add(reader) }
        count.add(1, ordering: .relaxed)
        let end = TraceEnd { [weak self] in
            if let self, state.withLock({ $0.traceReaders.remove(number) }) { count.subtract(1, ordering: .relaxed) }
            reader.end()
        }
        return AsyncStream {
            let event = await reader.next()
            if event == nil { end.call() }
            return event
        } onCancel: {
            end.call()
        }
    }

    /// Calls `end`, at the latest when it is released.
    private final class TraceEnd: Sendable {
        let call: @Sendable () -> Void

        init(_ call: @escaping @Sendable () -> Void) {
            self.call = call
        }

        deinit { call() }
    }

    /// Reports a reachability until the hub is released or the reporting task is taken, unless that has begun.
    func report(_ reachability: Reachability) {
        let statuses = reachability.statuses
        state.withLock { state in
            guard state.reachabilityTask == nil else { return }
            state.reachabilityTask = Task.detached { [weak self] in
                for await status in statuses where !Task.isCancelled { self?.tell(.reachability(status)) }
            }
        }
    }

    /// Takes the reporting task. Nothing more is reported once the caller has cancelled and awaited it.
    func takeReachabilityTask() -> Task<Void, Never>? { state.withLock { $0.reachabilityTask.take() } }

    private func take(_ step: Step) {
        if append(step) { tellAll() }
    }

    /// Adds a step. Returns whether nobody is delivering, so that the caller must.
    private func append(_ step: Step) -> Bool {
        state.withLock { state in
            state.steps.append(step)
            defer { state.isReporting = true }
            return !state.isReporting
        }
    }

    /// Delivers everything that is there. Must not be called under a lock.
    func tellAll() {
        while true {
            let (steps, observers) = state.withLock { state in
                defer { state.steps = [] }
                if state.steps.isEmpty { state.isReporting = false }
                return (state.steps, state.observers)
            }
            if steps.isEmpty { return }
            let left = Self.perform(steps, observers)
            state.withLock { $0.observers = left }
        }
    }

    private static func perform(
        _ steps: [Step], _ observers: [UInt64: Stream.Continuation]
    ) -> [UInt64: Stream.Continuation] {
        var observers = observers
        for step in steps {
            switch step {
            case .tell(let event): for observer in observers.values { observer.yield(event) }
            case .join(let id, let observer): observers[id] = observer
            case .leave(let id): observers[id] = nil
            case .end:
                let all = observers.values
                observers = [:]
                for observer in all { observer.finish() }
            }
        }
        return observers
    }
}
