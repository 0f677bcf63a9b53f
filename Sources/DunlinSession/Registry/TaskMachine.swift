/// The state of one call. Terminal states are final: of several outcomes that race, the first counts.
struct TaskMachine: Sendable {
    enum State: Sendable, Equatable {
        case waiting
        case running(hop: Int)
        /// Between two attempts, after so many hops.
        case pausing(hop: Int)
        case finished
        case failed
        case cancelled
    }

    private(set) var state = State.waiting

    /// The request is about to be sent, for the first time or again; false if it is over already.
    mutating func begin() -> Bool {
        switch state {
        case .waiting: state = .running(hop: 1)
        case .running(let hop), .pausing(let hop): state = .running(hop: hop + 1)
        case .finished, .failed, .cancelled: return false
        }
        return true
    }

    /// The request waits to be sent again; false if it is over already.
    mutating func pause() -> Bool {
        guard case .running(let hop) = state else { return false }
        state = .pausing(hop: hop)
        return true
    }

    /// The request is over; false if it was before.
    mutating func end(_ end: State) -> Bool {
        switch state {
        case .waiting, .running, .pausing: state = end
        case .finished, .failed, .cancelled: return false
        }
        return true
    }
}
