internal import Synchronization

/// A watch that all observers of the same thing share: created for the first of them, and released with the last.
package struct SharedWatch<Watch: AnyObject & Sendable>: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 cannot compile its use from another file then.
    struct State {
        weak var watch: Watch?
    }

    private let state = Mutex(State())

    package init() {}

    package var isObserved: Bool { state.withLock { $0.watch } != nil }

    /// Returns the shared watch, creating it if needed. `make` is called under the lock, so that there is never a
    /// second.
    package func join(_ make: () -> Watch) -> Watch {
        state.withLock { state in
            if let watch = state.watch { return watch }
            let watch = make()
            state.watch = watch
            return watch
        }
    }

    /// Makes later observers get another one. Returns the present one, if somebody still keeps it.
    package func part() -> Watch? {
        state.withLock { state in
            defer { state.watch = nil }
            return state.watch
        }
    }
}
