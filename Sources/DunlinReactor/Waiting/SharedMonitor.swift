internal import Synchronization

/// A monitor that all observers of the same thing share: created for the first of them, and released with the last.
package struct SharedMonitor<Monitor: AnyObject & Sendable>: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 cannot compile its use from another file then.
    struct State {
        weak var monitor: Monitor?
    }

    private let state = Mutex(State())

    package init() {}

    package var isObserved: Bool { state.withLock { $0.monitor } != nil }

    /// Returns the shared monitor, creating it if needed. `make` is called under the lock, so that there is never a
    /// second.
    package func join(_ make: () -> Monitor) -> Monitor {
        state.withLock { state in
            if let monitor = state.monitor { return monitor }
            let monitor = make()
            state.monitor = monitor
            return monitor
        }
    }

    /// Makes later observers get another one. Returns the present one, if somebody still keeps it.
    package func detach() -> Monitor? {
        state.withLock { state in
            defer { state.monitor = nil }
            return state.monitor
        }
    }
}
