internal import DunlinReactor

/// Turns at something that one task uses at a time, in the order of asking. It belongs to an actor.
struct WebSocketTurns {
    private enum State {
        case free
        case taken
        /// Nobody waits for a turn any more.
        case over
    }

    private var state = State.free
    private var waiting: [ValueWaiter<Void>] = []

    /// Takes the turn, or returns what to wait for.
    mutating func ask(on loop: Reactor) -> ValueWaiter<Void>? {
        guard state == .taken else {
            if state == .free { state = .taken }
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
        if state == .taken { state = .free }
    }

    /// Passes the turn to everybody, now and from now on: there is nothing left to take turns at.
    mutating func endAll() {
        state = .over
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
