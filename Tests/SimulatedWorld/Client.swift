internal import DunlinResilience
internal import DunlinTypes

/// What one client remembers between its requests.
struct Client {
    private static let second: Int64 = 1_000_000_000

    let policy: Policy
    var breaker = BreakerMachine(Resilience.Breaker())
    var rate = RateMachine(RateRules(requests: .max))
    private var budget = RetryBudget()
    private var standardBreaker = StandardBreaker()
    /// How many retries of Envoy are under way.
    private var retrying = 0

    init(_ policy: Policy) { self.policy = policy }

    /// Whether an attempt may be sent, and its number at the breaker. Restates the gate of DunlinResilience: a probe
    /// takes a retry from the budget, but one at a time may always try.
    mutating func mayGo(at now: Int64) -> (Bool, number: UInt64) {
        switch policy {
        case .none, .naive, .envoy: return (true, 0)
        case .standard: return (standardBreaker.mayGo(at: now), 0)
        case .dunlin:
            guard case .go(let number, let isProbe) = breaker.ask(at: HTTP.Instant(nanoseconds: now)) else {
                return (false, 0)
            }
            let isAlone = breaker.probesAlone
            if !isProbe || budget.takeRetry(at: now) || isAlone { return (true, number) }
            breaker.forget(number)
            return (false, 0)
        }
    }

    /// Notes what came of an attempt; nil if its client no longer waited for it.
    mutating func ended(_ number: UInt64, _ answer: Answer?, after duration: Int64, at now: Int64, chance: UInt64) {
        let instant = HTTP.Instant(nanoseconds: now)
        switch (policy, answer) {
        case (.standard, .some(.good)): standardBreaker.ended(isFailure: false, at: now)
        case (.standard, .some): standardBreaker.ended(isFailure: true, at: now)
        case (.dunlin, .some(.good(let limit))):
            breaker.ended(number, .success, after: duration, at: instant)
            budget.succeeded(at: now)
            if let limit { rate.learned(limit, chance: chance, at: instant) }
        case (.dunlin, .some(.limited(var limit, let retryAfter))):
            breaker.ended(number, .neither, after: duration, at: instant)
            limit.silence = .nanoseconds(retryAfter)
            rate.learned(limit, chance: chance, at: instant)
        case (.dunlin, .some): breaker.ended(number, .failure, after: duration, at: instant)
        case (.dunlin, nil): breaker.ended(number, .neither, after: duration, at: instant)
        default: break
        }
    }

    /// How long a request that ends in so much time waits before its next attempt, after so many; nil if there is none.
    mutating func wait(
        after attempts: Int, _ answer: Answer, left: Int64, at now: Int64, _ random: inout Random
    ) -> Int64? {
        if case .good = answer { return nil }
        switch policy {
        case .none: return nil
        case .naive: return attempts < 4 ? 0 : nil
        case .standard:
            if attempts >= 4 { return nil }
            if case .limited(_, let retryAfter) = answer { return retryAfter }
            return Int64(random.varied(Double(Self.second << attempts)))
        case .envoy:
            if case .limited = answer { return nil }
            guard attempts < 2, retrying < 3 else { return nil }
            retrying += 1
            return Int64(random.share() * 25_000_000)
        case .dunlin: return dunlinWait(after: attempts, answer, left: left, at: now, &random)
        }
    }

    /// Restates the rules of the session's `RetryMachine`: what the server asked for is added to the backoff, and if
    /// that is a second or more, the retry is allowed whatever the budget has left.
    private mutating func dunlinWait(
        after attempts: Int, _ answer: Answer, left: Int64, at now: Int64, _ random: inout Random
    ) -> Int64? {
        guard attempts < 3 else { return nil }
        var asked: Int64 = 0
        if case .limited(_, let retryAfter) = answer { asked = retryAfter }
        let backoff = UInt64(100_000_000) << UInt64(attempts - 1)
        let wait = asked + Int64(random.next().multipliedFullWidth(by: backoff + 1).high)
        guard wait < left, budget.takeRetry(isAsked: asked >= Self.second, at: now) else { return nil }
        return wait
    }

    /// Notes that a request has ended after so many attempts.
    mutating func finished(after attempts: Int) {
        if policy == .envoy, attempts > 1 { retrying -= 1 }
    }
}
