internal import Synchronization

extension LoopbackServer {
    /// A gate between a test and a script: either side may wait at it, and either may open it, once and for good.
    ///
    /// A reply waits with `.waitForSignal(gate)` until the test calls `open()`. A reply opens a gate with
    /// `.signal(gate)`, which the test awaits with `try await gate.opened()`. So a test knows where the server is
    /// without sleeping.
    public final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var wakers: [Waker] = []
        }

        private let state = Mutex(State())
        private let broadcast = Broadcast()

        public init() {}

        public var isOpen: Bool { state.withLock { $0.isOpen } }

        /// Opens the gate for all waiters, now and later. Calling it again has no effect.
        public func open() {
            let wakers = state.withLock { state in
                state.isOpen = true
                defer { state.wakers.removeAll() }
                return state.wakers
            }
            for waker in wakers { waker.wake() }
            broadcast.announce()
        }

        /// Returns when the gate is open. Throws `WaitTimedOut` if that takes longer than `limit`.
        public func opened(within limit: Duration = .patience) async throws {
            try await broadcast.first(within: limit, { "the opening of a gate" }) { [self] in isOpen ? () : nil }
        }

        /// Adds a waker, which `open()` will wake. Returns false if the gate is open already.
        func enlist(_ waker: Waker) -> Bool {
            state.withLock { state in
                if !state.isOpen { state.wakers.append(waker) }
                return !state.isOpen
            }
        }

        func unlist(_ waker: Waker) {
            state.withLock { $0.wakers.removeAll { $0 === waker } }
        }
    }
}
