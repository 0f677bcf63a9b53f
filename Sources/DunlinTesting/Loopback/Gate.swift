internal import Synchronization

extension LoopbackServer {
    /// A door between a test and a script: either side may wait at it, either side may open it, once and for good.
    ///
    /// A reply waits with `.waitForSignal(gate)` until the test calls `open()`; it opens one with `.signal(gate)`,
    /// and the test learns of it with `try await gate.opened()`. So a test knows where the server is without sleeping.
    public final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var wakers: [Waker] = []
        }

        private let state = Mutex(State())
        private let broadcast = Broadcast()

        public init() {}

        public var isOpen: Bool { state.withLock { $0.isOpen } }

        /// Lets everybody through, now and later. Opening an open gate does nothing.
        public func open() {
            let wakers = state.withLock { state in
                state.isOpen = true
                defer { state.wakers.removeAll() }
                return state.wakers
            }
            for waker in wakers { waker.wake() }
            broadcast.announce()
        }

        /// Returns once the gate is open. Throws `WaitTimedOut` when that takes longer than `limit`.
        public func opened(within limit: Duration = .patience) async throws {
            try await broadcast.first(within: limit, { "the opening of a gate" }) { [self] in isOpen ? () : nil }
        }

        /// Whether there is anything to wait for; if so the waker is woken by `open()`.
        func enlist(_ waker: Waker) -> Bool {
            state.withLock { state in
                if !state.isOpen { state.wakers.append(waker) }
                return !state.isOpen
            }
        }

        func dismiss(_ waker: Waker) {
            state.withLock { $0.wakers.removeAll { $0 === waker } }
        }
    }
}
