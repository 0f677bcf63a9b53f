/// The order of a trace's lines and a body, which come by two ways and are read as one.
///
/// Rules:
/// 1. The body waits until as many heads were shown as its request received.
/// 2. What happens while the body is printed is shown after it.
struct TraceOrder<Waiter> {
    private enum State {
        case showing
        /// The body may be printed after so many more heads.
        case waiting(heads: Int, Waiter)
        case printing
    }

    enum Action {
        case none
        case show([[String]])
        case resume(Waiter)
    }

    private var state = State.showing
    private var heads = 0
    private var held: [[String]] = []

    /// Lines that come together; whether they end an exchange's wait for its head. They are shown, or held.
    mutating func take(_ lines: [String], isHead: Bool) -> Action {
        if case .printing = state {
            held.append(lines)
            return .none
        }
        if isHead { heads += 1 }
        return .show([lines])
    }

    /// What was returned by `take` is shown.
    mutating func shown() -> Action {
        guard case .waiting(let needed, let waiter) = state, heads >= needed else { return .none }
        state = .printing
        return .resume(waiter)
    }

    mutating func beginBody(after needed: Int, _ waiter: Waiter) -> Action {
        guard heads < needed else {
            state = .printing
            return .resume(waiter)
        }
        state = .waiting(heads: needed, waiter)
        return .none
    }

    /// No more heads will come: nobody waits for one.
    mutating func giveUp() -> Action {
        guard case .waiting(_, let waiter) = state else { return .none }
        state = .printing
        return .resume(waiter)
    }

    mutating func endBody() -> Action {
        defer { (state, held) = (.showing, []) }
        return .show(held)
    }
}
