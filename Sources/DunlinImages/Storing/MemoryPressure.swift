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
enum PressureObservation: Sendable {
    case idle(any MemoryPressureSource)
    /// Whoever began it ends it.
    case running(Task<Void, Never>)
    case none

    /// Has no effect after the first call.
    mutating func begin(_ relieve: @escaping @Sendable (MemoryPressure) -> Void) {
        guard case .idle(let source) = self else { return }
        self = .running(
            Task.detached {
                for await level in source.observe() { relieve(level) }
            })
    }

    func end() {
        if case .running(let task) = self { task.cancel() }
    }
}
