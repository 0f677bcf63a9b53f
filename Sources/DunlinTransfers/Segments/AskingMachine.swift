/// Has one worker ask alone until it is known what becomes of what workers ask for.
///
/// Rules:
/// 1. One asks, and the others wait. They come again when it was answered, and all may ask then, each by itself.
/// 2. If it was not answered, nothing is known yet: the next one asks alone.
/// 3. Where nothing can become of it but what was asked for, nobody waits.
///
/// It must not know what is asked, or what is sent.
struct AskingMachine<Waiter> {
    fileprivate enum State {
        case idle
        case asked([Waiter])
        case open
    }

    private var state: State

    init(isOpen: Bool) {
        state = isOpen ? .open : .idle
    }

    /// Whether the worker may ask; if not, its waiter is called when that may be otherwise.
    mutating func enter(_ waiter: Waiter) -> Bool {
        switch state {
        case .open: return true
        case .idle:
            state = .asked([])
            return true
        case .asked(let waiters):
            state = .asked(waiters + [waiter])
            return false
        }
    }

    /// One that might ask has ended. `hasShown` is whether it was answered. Returns the waiters to call.
    mutating func ended(hasShown: Bool) -> [Waiter] {
        guard case .asked(let waiters) = state else { return [] }
        state = hasShown ? .open : .idle
        return waiters
    }
}

extension AskingMachine.State: Sendable where Waiter: Sendable {}
extension AskingMachine: Sendable where Waiter: Sendable {}
