/// The transfers of a journal, and those who wait until there are none.
///
/// Rules: the journal is drained when the last transfer is over and forgotten. A transfer that is left to other
/// processes has not ended, so closing a journal does not drain it; but those who wait are told that there is nothing
/// to wait for any more.
struct JournalBook<Transfer, Waiter> {
    private var entries: [(id: String, transfer: Transfer)] = []
    private var waiters: [UInt64: Waiter] = [:]
    private var lastWaiter: UInt64 = 0
    private(set) var isClosed = false
    private(set) var issues: [HTTPSession.JournalIssue] = []

    var transfers: [Transfer] { entries.map(\.transfer) }

    func has(_ id: String) -> Bool { entries.contains { $0.id == id } }

    /// False if it is closed.
    mutating func add(_ transfer: Transfer, _ id: String) -> Bool {
        if isClosed { return false }
        entries.append((id, transfer))
        return true
    }

    /// Removes a transfer. Returns whether it was the last, and who waited for that.
    mutating func remove(_ id: String, isForgotten: Bool) -> (isDrained: Bool, [Waiter]) {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return (false, []) }
        entries.remove(at: place)
        guard entries.isEmpty else { return (false, []) }
        defer { waiters = [:] }
        return (isForgotten && !isClosed, Array(waiters.values))
    }

    /// Nil if there is nothing to wait for.
    mutating func wait(_ waiter: Waiter) -> UInt64? {
        if entries.isEmpty { return nil }
        lastWaiter += 1
        waiters[lastWaiter] = waiter
        return lastWaiter
    }

    mutating func leave(_ number: UInt64) {
        waiters[number] = nil
    }

    /// Takes no more transfers. Returns those that are to be stopped.
    mutating func close() -> [Transfer] {
        isClosed = true
        return transfers
    }

    mutating func note(_ issue: HTTPSession.JournalIssue) {
        // One a file, the newest.
        issues.removeAll { $0.path == issue.path }
        issues.append(issue)
    }
}
