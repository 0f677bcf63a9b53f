/// Restates the circuit breaker of .NET's standard handler by its documentation: it opens for five seconds when a tenth
/// of at least a hundred attempts within thirty seconds failed, and then one attempt decides.
struct StandardBreaker {
    private enum State {
        case closed
        case open(until: Int64)
        case halfOpen
    }

    private var state = State.closed
    private var outcomes: [(time: Int64, isFailure: Bool)] = []
    private var first = 0
    private var failures = 0

    mutating func mayGo(at now: Int64) -> Bool {
        switch state {
        case .closed: return true
        case .halfOpen: return false
        case .open(let until):
            if now < until { return false }
            state = .halfOpen
            return true
        }
    }

    mutating func ended(isFailure: Bool, at now: Int64) {
        switch state {
        case .open: break
        case .halfOpen:
            if isFailure { open(at: now) } else { state = .closed }
        case .closed:
            outcomes.append((now, isFailure))
            if isFailure { failures += 1 }
            while outcomes[first].time < now - 30_000_000_000 {
                if outcomes[first].isFailure { failures -= 1 }
                first += 1
            }
            let count = outcomes.count - first
            if count >= 100, Double(failures) >= 0.1 * Double(count) { open(at: now) }
        }
    }

    private mutating func open(at now: Int64) {
        state = .open(until: now + 5_000_000_000)
        (outcomes, first, failures) = ([], 0, 0)
    }
}
