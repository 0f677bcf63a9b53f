internal import Synchronization

/// The observers of each turn of a loop: a waiting test, and a clock that is moved by hand.
struct TurnObservers {
    private var byID: [UInt64: @Sendable () -> Void] = [:]
    private var lastID: UInt64 = 0

    var isEmpty: Bool { byID.isEmpty }
    var all: [@Sendable () -> Void] { Array(byID.values) }

    mutating func insert(_ observer: @escaping @Sendable () -> Void) -> UInt64 {
        lastID += 1
        byID[lastID] = observer
        return lastID
    }

    mutating func remove(_ id: UInt64) {
        byID[id] = nil
    }
}

extension Reactor {
    /// Calls `observer` on the loop's thread at the end of each turn, until the closure that it returns is called; if
    /// that happens on another thread, perhaps once more. An observed loop also makes a turn when something is opened,
    /// closed or scheduled elsewhere. A loop that is not observed pays nothing for this.
    @discardableResult
    package func observeTurns(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = shared.withLock { $0.turnObservers.insert(observer) }
        return { [self] in shared.withLock { $0.turnObservers.remove(id) } }
    }

    /// Makes a turn after something was opened or closed elsewhere: a loop that retires checks whether it was the last,
    /// and one that is observed reports the change.
    func makeTurnIfWanted() {
        if !isCurrent && shared.withLock({ $0.life == .retiring || !$0.turnObservers.isEmpty }) { wake() }
    }
}
