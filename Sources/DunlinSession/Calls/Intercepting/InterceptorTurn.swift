internal import DunlinRules
internal import Synchronization

/// One passage of a request through one interceptor: counts what it sends, by the rules of `InterceptorMachine`.
final class InterceptorTurn: Sendable {
    private struct State {
        var machine = InterceptorMachine()
        /// What `next` threw last.
        var thrown: (any Error)?
    }

    private let state = Mutex(State())

    /// Nil if it may send; who succeeds calls `answered` or `failed`.
    func begin() -> InterceptorMachine.Refusal? { state.withLock { $0.machine.begin() } }

    func answered() { state.withLock { $0.machine.answered() } }

    func failed(_ error: any Error) {
        state.withLock { state in
            state.machine.answered()
            state.thrown = error
        }
    }

    /// Whether it was called.
    var hasSent: Bool { state.withLock { $0.machine.hasSent } }

    /// Whether `next` threw this error. Errors cannot be compared; one of the same type that says the same is the same.
    func hasThrown(_ error: any Error) -> Bool {
        guard let thrown = state.withLock({ $0.thrown }) else { return false }
        return type(of: thrown) == type(of: error) && "\(thrown)" == "\(error)"
    }

    func end() { state.withLock { $0.machine.end() } }
}
