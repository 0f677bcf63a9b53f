/// Restates the session's budget of retries for one origin, credited by successes: each adds a fifth of a retry, and
/// each retry costs one. It begins at ten, below ten it regains one a second, and at most a hundred above are saved.
struct RetryBudget {
    private static let floor = 10.0
    private static let most = 110.0

    private var balance = floor
    private var touched: Int64 = 0

    mutating func succeeded(at now: Int64) {
        regain(at: now)
        balance = min(balance + 0.2, Self.most)
    }

    mutating func takeRetry(at now: Int64) -> Bool {
        regain(at: now)
        guard balance >= 1 else { return false }
        balance -= 1
        return true
    }

    private mutating func regain(at now: Int64) {
        if balance < Self.floor { balance = min(Self.floor, balance + Double(now - touched) / 1e9) }
        touched = now
    }
}
