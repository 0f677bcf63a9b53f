/// Counts how many retries a session may make to each origin, so that an outage does not multiply the load.
///
/// Rules:
/// 1. Each request that succeeds adds a fraction of a retry, the ratio of its policy, and each retry costs one.
/// 2. The budget begins at the floor. Below the floor it regains one retry a second.
/// 3. At most a hundred retries above the floor are saved.
/// 4. A request without a budget neither adds nor takes anything.
/// 5. A retry that the server asked for costs as much, and is allowed although there may be none left: the server has
///    said when it takes it (see `RetryMachine`). What it cost is missing to those that nobody asked for.
/// 6. If there are very many origins, the least recently requested are forgotten and start over.
struct RetryBudgetMachine {
    private struct Account {
        /// The balance in millionths of a retry.
        var balance: Int64
        /// The level up to which the balance recovers by itself, by the policy of the last request.
        var floor: Int64
        var touched: HTTP.Instant

        /// The balance including what has been regained since.
        func balance(at now: HTTP.Instant) -> Int64 {
            guard balance < floor else { return balance }
            // A thousand nanoseconds regain one millionth of a retry.
            let regained = max(0, now.nanoseconds - touched.nanoseconds) / 1000
            return min(floor, balance + regained)
        }
    }

    private static let retry: Int64 = 1_000_000
    private static let savings: Int64 = 100 * retry
    static let remembered = 1024

    private var accounts = RecentValues<String, Account>(limit: remembered)

    var count: Int { accounts.count }

    /// Counts a request that has succeeded.
    mutating func succeeded(_ origin: String, _ budget: HTTPSession.RetryPolicy.Budget, at now: HTTP.Instant) {
        guard case .ratio(let ratio, let floor) = budget else { return }
        change(origin, floor, at: now) { balance, floor in
            balance = min(balance + Int64((ratio * Double(Self.retry)).rounded()), floor + Self.savings)
        }
    }

    /// Takes a retry, if there is one, or if the server has asked for it.
    mutating func takeRetry(
        _ origin: String, _ budget: HTTPSession.RetryPolicy.Budget, isAsked: Bool = false, at now: HTTP.Instant
    ) -> Bool {
        guard case .ratio(_, let floor) = budget else { return true }
        return change(origin, floor, at: now) { balance, _ in
            guard isAsked || balance >= Self.retry else { return false }
            balance = max(0, balance - Self.retry)
            return true
        }
    }

    /// The whole retries that each origin has left.
    func left(at now: HTTP.Instant) -> [String: Int] {
        var left: [String: Int] = [:]
        for (origin, account) in accounts.latestFirst { left[origin] = Int(account.balance(at: now) / Self.retry) }
        return left
    }

    private mutating func change<Answer>(
        _ origin: String, _ floor: Int, at now: HTTP.Instant, _ change: (inout Int64, Int64) -> Answer
    ) -> Answer {
        let floor = Int64(floor) * Self.retry
        var account = accounts[origin] ?? Account(balance: floor, floor: floor, touched: now)
        account.floor = floor
        account.balance = account.balance(at: now)
        account.touched = now
        let answer = change(&account.balance, floor)
        accounts.keep(account, for: origin)
        return answer
    }
}
