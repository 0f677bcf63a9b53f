/// Restates the session's budget of retries for one origin, credited by successes: each adds a fifth of a retry, and
/// each retry costs one. It begins at ten, below ten it regains one a second, and at most a hundred above are saved. A
/// retry that the server asked for is allowed although none may be left.
struct RetryBudget {
    /// In millionths of a retry, as all here.
    private static let retry: Int64 = 1_000_000
    private static let floor = 10 * retry
    private static let most = 110 * retry

    private var balance = floor
    private var touched: Int64 = 0

    mutating func succeeded(at now: Int64) {
        regain(at: now)
        balance = min(balance + Self.retry / 5, Self.most)
    }

    mutating func takeRetry(isAsked: Bool = false, at now: Int64) -> Bool {
        regain(at: now)
        guard isAsked || balance >= Self.retry else { return false }
        balance = max(0, balance - Self.retry)
        return true
    }

    private mutating func regain(at now: Int64) {
        if balance < Self.floor { balance = min(Self.floor, balance + (now - touched) / 1000) }
        touched = now
    }
}
