internal import Synchronization

/// What a session says of retries, and what its requests share for them: the budget, and chance.
final class RetrySettings: Sendable {
    let policy: HTTPSession.RetryPolicy
    /// Whether a request is tried again that says nothing else.
    let isSet: Bool
    private let random: (@Sendable () -> UInt64)?
    private let budget = Mutex(RetryBudgetMachine())

    init(_ configuration: HTTPSession.Configuration) {
        policy = configuration.retry
        isSet = policy.isSet
        random = configuration.random
    }

    func chance() -> UInt64 {
        if let random { return random() }
        var system = SystemRandomNumberGenerator()
        return system.next()
    }

    /// A request is made that may be tried again.
    func requested(_ origin: String, _ policy: HTTPSession.RetryPolicy, at now: MonotonicTime) {
        budget.withLock { $0.requested(origin, policy.budget, at: now) }
    }

    /// False if the budget has none.
    func takeRetry(_ origin: String, _ policy: HTTPSession.RetryPolicy, at now: MonotonicTime) -> Bool {
        budget.withLock { $0.takeRetry(origin, policy.budget, at: now) }
    }
}
