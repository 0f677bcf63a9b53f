internal import DunlinReactor

/// Turns at something that one task uses at a time, in the order of asking. It belongs to an actor.
struct WebSocketTurns {
    private var isTaken = false
    private var waiting: [ValueWaiter<Void>] = []

    /// Takes the turn, or returns what to wait for.
    mutating func ask(on loop: Reactor) -> ValueWaiter<Void>? {
        guard isTaken else {
            isTaken = true
            return nil
        }
        let waiter = ValueWaiter<Void>(on: loop)
        waiting.append(waiter)
        return waiter
    }

    /// Passes the turn to the next who still waits.
    mutating func end() {
        while !waiting.isEmpty {
            if waiting.removeFirst().deliver(()) { return }
        }
        isTaken = false
    }
}

extension ValueWaiter {
    /// Waits for the value; nil if the waiting task was cancelled, or at the deadline.
    func valueUnlessCancelled() async -> Value? {
        await withTaskCancellationHandler {
            guard case .value(let value) = await wait(until: .never, cancellation: nil) else { return nil }
            return value
        } onCancel: {
            cancel()
        }
    }
}
