internal import Synchronization

/// What all who watch the same have in common: made for the first of them, and gone with the last.
package struct SharedWatch<Watch: AnyObject & Sendable>: ~Copyable, Sendable {
    // Not private: Swift 6.3.1 cannot compile its use from another file then.
    struct State {
        weak var watch: Watch?
    }

    private let state = Mutex(State())

    package init() {}

    package var isObserved: Bool { state.withLock { $0.watch } != nil }

    /// `make` is called under the lock: there must be no second.
    package func join(_ make: () -> Watch) -> Watch {
        state.withLock { state in
            if let watch = state.watch { return watch }
            let watch = make()
            state.watch = watch
            return watch
        }
    }

    /// Who comes from now on gets another. That which was, if it is still held.
    package func part() -> Watch? {
        state.withLock { state in
            defer { state.watch = nil }
            return state.watch
        }
    }
}
