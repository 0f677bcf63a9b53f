internal import DunlinRules
internal import Synchronization

/// One passage of a request through one interceptor: counts what it sends, by the rules of `InterceptorMachine`.
final class InterceptorTurn: Sendable {
    private let machine = Mutex(InterceptorMachine())
    /// What `next` threw last.
    private let thrown = Mutex<(any Error)?>(nil)

    /// Nil if it may send; who succeeds calls `answered` or `failed`.
    func begin() -> InterceptorMachine.Refusal? { machine.withLock { $0.begin() } }

    func answered() { machine.withLock { $0.answered() } }

    func failed(_ error: any Error) {
        machine.withLock { $0.answered() }
        thrown.withLock { $0 = error }
    }

    /// Whether it was called.
    var hasSent: Bool { machine.withLock { $0.hasSent } }

    /// Whether `next` threw this error. Errors cannot be compared; one of the same type that says the same is the same.
    func hasThrown(_ error: any Error) -> Bool {
        guard let thrown = thrown.withLock({ $0 }) else { return false }
        return type(of: thrown) == type(of: error) && "\(thrown)" == "\(error)"
    }

    func end() { machine.withLock { $0.end() } }
}
