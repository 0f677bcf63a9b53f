/// Counts how many retries a session may make, for each origin by itself: an outage must not be answered with many
/// times the load.
///
/// Rules:
/// 1. Each request adds a part of a retry, by the ratio of its policy, and each retry costs a whole one.
/// 2. At the beginning there are as many as the floor says. Below the floor one comes back each second.
/// 3. At most a hundred more than the floor are saved.
/// 4. A request without a budget neither adds nor takes anything.
/// 5. A retry that the server asked for costs nothing and is not seen here (see `RetryMachine`).
/// 6. If there are very many origins, those that were asked for longest ago are forgotten, and start over.
struct RetryBudgetMachine {
    private struct Account {
        /// In millionths of a retry.
        var balance: Int64
        /// What comes back by itself, by the policy of the last request.
        var floor: Int64
        var touched: HTTP.Instant

        /// The balance with what has come back since.
        func balance(at now: HTTP.Instant) -> Int64 {
            guard balance < floor else { return balance }
            // A second has a thousand times as many nanoseconds as a retry has millionths.
            let regained = max(0, now.nanoseconds - touched.nanoseconds) / 1000
            return min(floor, balance + regained)
        }
    }

    private static let retry: Int64 = 1_000_000
    private static let savings: Int64 = 100 * retry
    static let remembered = 1024

    private var accounts = RecentValues<String, Account>(limit: remembered)

    var count: Int { accounts.count }

    /// A request is made, for the first time.
    mutating func requested(_ origin: String, _ budget: HTTPSession.RetryPolicy.Budget, at now: HTTP.Instant) {
        guard case .ratio(let ratio, let floor) = budget else { return }
        change(origin, floor, at: now) { balance, floor in
            balance = min(balance + Int64((ratio * Double(Self.retry)).rounded()), floor + Self.savings)
        }
    }

    /// Takes a retry, if there is one.
    mutating func takeRetry(
        _ origin: String, _ budget: HTTPSession.RetryPolicy.Budget, at now: HTTP.Instant
    ) -> Bool {
        guard case .ratio(_, let floor) = budget else { return true }
        return change(origin, floor, at: now) { balance, _ in
            guard balance >= Self.retry else { return false }
            balance -= Self.retry
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
