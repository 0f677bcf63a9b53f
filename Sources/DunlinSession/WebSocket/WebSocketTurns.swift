internal import DunlinReactor

/// Turns at something that one task uses at a time, in the order of asking. It belongs to an actor.
struct WebSocketTurns {
    private var isTaken = false
    /// Nobody waits for a turn any more.
    private var isOver = false
    private var waiting: [ValueWaiter<Void>] = []

    /// Takes the turn, or returns what to wait for.
    mutating func ask(on loop: Reactor) -> ValueWaiter<Void>? {
        guard isTaken, !isOver else {
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

extension WebSocketTurns {
    /// Passes the turn to everybody, now and from now on: there is nothing left to take turns at.
    mutating func endAll() {
        isOver = true
        for waiter in waiting { _ = waiter.deliver(()) }
        waiting = []
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
