/// The state of one call. Terminal states are final: if several outcomes race, the first counts.
struct TaskMachine: Sendable {
    enum State: Sendable, Equatable {
        case waiting
        case running(hop: Int)
        /// Waiting between two attempts, after this many hops.
        case pausing(hop: Int)
        case finished
        case failed
        case cancelled
    }

    private(set) var state: State

    init(_ state: State = .waiting) {
        self.state = state
    }

    /// Notes that the request is about to be sent, for the first time or again. Returns false if it is over.
    mutating func begin() -> Bool {
        switch state {
        case .waiting: state = .running(hop: 1)
        case .running(let hop), .pausing(let hop): state = .running(hop: hop + 1)
        case .finished, .failed, .cancelled: return false
        }
        return true
    }

    /// Notes that the request waits to be sent again. Returns false if it is over.
    mutating func pause() -> Bool {
        guard case .running(let hop) = state else { return false }
        state = .pausing(hop: hop)
        return true
    }

    /// Ends the request. Returns false if it was over already.
    mutating func end(_ end: State) -> Bool {
        switch state {
        case .waiting, .running, .pausing: state = end
        case .finished, .failed, .cancelled: return false
        }
        return true
    }
}
