/// How short of memory the machine is, or the process's control group.
public enum MemoryPressure: Sendable, Hashable, CaseIterable {
    /// Work waits for memory: what can easily be obtained again should be released.
    case some
    /// Everything that can be released should be, before the kernel kills processes.
    case critical
}

/// A source that reports when memory is short.
public protocol MemoryPressureSource: Sendable {
    /// Returns the reports from now on, while somebody reads them. A level may be reported repeatedly while it lasts.
    /// Each call begins a separate observation.
    func observe() -> AsyncStream<MemoryPressure>
}

/// A cache's observation, from its first picture to its end.
enum PressureObservation: Sendable {
    case idle(any MemoryPressureSource)
    /// The observation runs; the cache that began it ends it.
    case running(Task<Void, Never>)
    case none

    /// Begins to observe; no effect after the first call.
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
