internal import Synchronization

/// How short of memory the machine is, or the control group that the process is in.
public enum MemoryPressure: Sendable, Hashable, CaseIterable {
    /// Work waits for memory; what can be had again without much trouble should be given up.
    case some
    /// What can be given up should be, before the kernel ends processes.
    case critical
}

/// Tells when memory is short.
public protocol MemoryPressureSource: Sendable {
    /// What is observed from now on, for as long as somebody reads it. A level may be told again and again while it
    /// lasts. Each call is another observation.
    func observe() -> AsyncStream<MemoryPressure>
}

/// What a cache observes: from its first picture to its end.
final class PressureObservation: Sendable {
    private enum State {
        case idle(any MemoryPressureSource)
        case running(Task<Void, Never>)
        case over
    }

    private let state: Mutex<State>

    init(_ source: (any MemoryPressureSource)?) {
        state = Mutex(source.map { .idle($0) } ?? .over)
    }

    /// Has no effect after the first call.
    func begin(_ relieve: @escaping @Sendable (MemoryPressure) -> Void) {
        state.withLock { state in
            guard case .idle(let source) = state else { return }
            // The observation's owner ends it.
            state = .running(
                Task.detached {
                    for await level in source.observe() { relieve(level) }
                })
        }
    }

    func end() {
        let state = state.withLock { state in
            defer { state = .over }
            return state
        }
        if case .running(let task) = state { task.cancel() }
    }
}
