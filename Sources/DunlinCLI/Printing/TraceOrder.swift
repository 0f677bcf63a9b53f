/// The order of a trace's lines and a body, which come by two ways and are read as one.
///
/// Rules:
/// 1. The body waits until as many heads were shown as its request received.
/// 2. What happens while the body is printed is shown after it, and so is the end of a response, which may be known
///    before its first byte is printed. That of a redirect is shown before what follows.
struct TraceOrder<Line, Waiter> {
    enum Kind {
        /// The final head of an exchange, or its failure.
        case head
        /// The end of a response.
        case end
        case other
    }

    private enum State {
        case showing
        /// The body may be printed after so many more heads.
        case waiting(heads: Int, Waiter)
        case printing
    }

    enum Action {
        case none
        case show([[Line]])
        case resume(Waiter)
    }

    private var state = State.showing
    private var heads = 0
    private var held: [[Line]] = []

    /// Lines that come together. They are shown, or held.
    mutating func take(_ lines: [Line], _ kind: Kind) -> Action {
        if case .printing = state {
            held.append(lines)
            return .none
        }
        switch kind {
        case .end:
            held.append(lines)
            return .none
        case .head: heads += 1
        case .other: break
        }
        defer { held = [] }
        return .show(held + [lines])
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

    /// The body has ended, or the trace.
    mutating func release() -> Action {
        defer { (state, held) = (.showing, []) }
        return .show(held)
    }
}
