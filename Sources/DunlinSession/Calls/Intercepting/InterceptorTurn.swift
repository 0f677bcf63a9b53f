internal import DunlinRules
internal import Synchronization

/// One turn of a request in one interceptor. It counts what the interceptor sends, by the rules of
/// `InterceptorMachine`.
final class InterceptorTurn: Sendable {
    private struct State {
        var machine = InterceptorMachine()
        /// The error that `next` threw last.
        var thrown: (any Error)?
    }

    private let state = Mutex(State())

    /// Begins a sending. Returns nil if it is allowed; the caller must then call `answered` or `failed`.
    func begin() -> InterceptorMachine.Refusal? { state.withLock { $0.machine.begin() } }

    func answered() { state.withLock { $0.machine.answered() } }

    func failed(_ error: any Error) {
        state.withLock { state in
            state.machine.answered()
            state.thrown = error
        }
    }

    /// Whether `next` was called.
    var hasSent: Bool { state.withLock { $0.machine.hasSent } }

    /// Whether `next` threw this error. Errors cannot be compared, so one of the same type with the same description
    /// counts as the same.
    func hasThrown(_ error: any Error) -> Bool {
        guard let thrown = state.withLock({ $0.thrown }) else { return false }
        return type(of: thrown) == type(of: error) && "\(thrown)" == "\(error)"
    }

    func end() { state.withLock { $0.machine.end() } }
}
