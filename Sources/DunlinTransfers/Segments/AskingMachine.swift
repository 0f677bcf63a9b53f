/// Lets one worker send its request alone until its answer shows what the workers' requests turn into.
///
/// Rules:
/// 1. One worker asks, and the others wait. When it has its answer, they are called, and all may ask at the same time.
/// 2. If it gets no answer, nothing is known yet: the next one asks alone.
/// 3. If requests are always sent unchanged, nobody waits.
///
/// It must not know what is requested or sent.
struct AskingMachine<Waiter> {
    fileprivate enum State {
        case idle
        case asking([Waiter])
        case open
    }

    private var state: State

    init(isOpen: Bool) {
        state = isOpen ? .open : .idle
    }

    /// Returns whether the worker may ask; if not, its waiter is called when that may have changed.
    mutating func enter(_ waiter: Waiter) -> Bool {
        switch state {
        case .open: return true
        case .idle:
            state = .asking([])
            return true
        case .asking(let waiters):
            state = .asking(waiters + [waiter])
            return false
        }
    }

    /// Notes that a worker that was allowed to ask has ended; `hasShown`: whether it was answered. Returns the waiters
    /// to call.
    mutating func ended(hasShown: Bool) -> [Waiter] {
        guard case .asking(let waiters) = state else { return [] }
        state = hasShown ? .open : .idle
        return waiters
    }
}

extension AskingMachine.State: Sendable where Waiter: Sendable {}
extension AskingMachine: Sendable where Waiter: Sendable {}
