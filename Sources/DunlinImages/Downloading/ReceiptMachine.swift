/// The outcome of one receipt, and its waiters.
///
/// The first outcome counts, and later waiters get it too. A waiter begins before it waits, because it may be cancelled
/// before that.
struct ReceiptMachine<Outcome, Waiter> {
    enum Entry {
        case settled(Outcome)
        case cancelled
        case waiting
    }

    private(set) var outcome: Outcome?
    private var last: UInt64 = 0
    /// The waiters that have begun and do not wait yet, and whether they were cancelled.
    private var begun: [UInt64: Bool] = [:]
    private var waiters: [(id: UInt64, waiter: Waiter)] = []

    var isIdle: Bool { begun.isEmpty && waiters.isEmpty }

    mutating func begin() -> UInt64 {
        last += 1
        begun[last] = false
        return last
    }

    mutating func enter(_ id: UInt64, _ waiter: Waiter) -> Entry {
        let isCancelled = begun.removeValue(forKey: id) == true
        if let outcome { return .settled(outcome) }
        if isCancelled { return .cancelled }
        waiters.append((id, waiter))
        return .waiting
    }

    /// Cancels a waiter. Returns it if it was waiting.
    mutating func cancel(_ id: UInt64) -> Waiter? {
        if begun[id] != nil {
            begun[id] = true
            return nil
        }
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return waiters.remove(at: index).waiter
    }

    /// Settles the outcome. Returns the waiters to tell, in order of arrival; nil if there was an outcome already.
    mutating func settle(_ outcome: Outcome) -> [Waiter]? {
        guard self.outcome == nil else { return nil }
        self.outcome = outcome
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }
}
