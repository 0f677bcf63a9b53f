internal import Synchronization

/// A session's settings for retries, and what its requests share for them: the budget and random numbers.
final class RetrySettings: Sendable {
    /// Whether a request without its own policy may have more than one attempt.
    let isSet: Bool
    private let random: (@Sendable () -> UInt64)?
    private let budget = Mutex(RetryBudgetMachine())

    init(_ configuration: HTTPSession.Configuration) {
        isSet = configuration.retry.isSet
        random = configuration.random
    }

    func chance() -> UInt64 {
        if let random { return random() }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }

    /// Counts a request that has succeeded and may have had more than one attempt.
    func succeeded(_ origin: String, _ policy: HTTPSession.RetryPolicy, at now: HTTP.Instant) {
        budget.withLock { $0.succeeded(origin, policy.budget, at: now) }
    }

    /// Takes a retry from the budget. Returns false if there is none.
    func takeRetry(
        _ origin: String, _ policy: HTTPSession.RetryPolicy, isAsked: Bool = false, at now: HTTP.Instant
    ) -> Bool {
        budget.withLock { $0.takeRetry(origin, policy.budget, isAsked: isAsked, at: now) }
    }

    /// The number of retries that each origin's budget has left.
    func left(at now: HTTP.Instant) -> [String: Int] { budget.withLock { $0.left(at: now) } }
}
