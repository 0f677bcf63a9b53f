/// The transfers of a journal, and the waiters for the end of all of them.
///
/// Rules: the journal is drained when the last transfer is over and forgotten. A transfer that is left to other
/// processes has not ended, so closing a journal does not drain it, but it releases the waiters.
struct TransferList<Transfer, Waiter> {
    private var entries: [(id: String, transfer: Transfer)] = []
    private var waiters: [UInt64: Waiter] = [:]
    private var lastWaiter: UInt64 = 0
    private(set) var isClosed = false
    private(set) var issues: [HTTPSession.JournalIssue] = []

    var transfers: [Transfer] { entries.map(\.transfer) }

    func has(_ id: String) -> Bool { entries.contains { $0.id == id } }

    /// Adds a transfer. Returns false if the journal is closed.
    mutating func add(_ transfer: Transfer, _ id: String) -> Bool {
        if isClosed { return false }
        entries.append((id, transfer))
        return true
    }

    /// Removes a transfer. Returns whether it was the last, and the waiters to release.
    mutating func remove(_ id: String, isForgotten: Bool) -> (isDrained: Bool, [Waiter]) {
        guard let index = entries.firstIndex(where: { $0.id == id }) else { return (false, []) }
        entries.remove(at: index)
        guard entries.isEmpty else { return (false, []) }
        defer { waiters = [:] }
        return (isForgotten && !isClosed, Array(waiters.values))
    }

    /// Adds a waiter and returns its ID; nil if there is nothing to wait for.
    mutating func wait(_ waiter: Waiter) -> UInt64? {
        if entries.isEmpty { return nil }
        lastWaiter += 1
        waiters[lastWaiter] = waiter
        return lastWaiter
    }

    mutating func leave(_ number: UInt64) {
        waiters[number] = nil
    }

    /// Accepts no more transfers. Returns those that must be stopped.
    mutating func close() -> [Transfer] {
        isClosed = true
        return transfers
    }

    mutating func note(_ issue: HTTPSession.JournalIssue) {
        // Keeps one issue for each file, the newest.
        issues.removeAll { $0.path == issue.path }
        issues.append(issue)
    }
}
