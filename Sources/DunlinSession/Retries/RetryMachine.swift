/// Whether a request is tried again, and after which wait.
///
/// Rules:
/// 1. Only what the policy names is tried again, as often as it says, and never what cannot be otherwise the next time:
///    everything that is neither a status, a connection's failure nor a phase that took too long.
/// 2. Only what is safe: all methods that were sent are idempotent (RFC 9110 §9.2.2); or nothing can have been done,
///    which is so if an error says it, or if the server answered the first request with 408, 425 or 429, by which it
///    says that it did not take it up (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4); or the user says so.
/// 3. Only if the body can be sent.
/// 4. The wait doubles with each attempt, up to the cap; chance says how much of it is waited. What the server asks for
///    comes before it. A longer wait than the policy allows, or one that outlasts the request, is none: what came of
///    the attempt is then what came of the request.
/// 5. An attempt is asked for if the server named a time for it, a second away or more: it then knows that somebody
///    will come, and when.
/// 6. Never reads a clock, throws no dice, knows no budget.
struct RetryMachine {
    enum Outcome: Equatable {
        /// `isIdempotent`: of every method that was sent. `isRedirected`: it is the answer to another request than the
        /// original. `retryAfter`: nanoseconds.
        case answered(HTTP.Status, isIdempotent: Bool, isRedirected: Bool = false, retryAfter: Int64? = nil)
        /// `isSafe`: by the error's own word.
        case failed(Failure, isSafe: Bool)
    }

    enum Failure: Equatable {
        case connection
        case timeout
        /// Not to be tried again.
        case other
    }

    /// How things stand when an attempt has ended.
    struct Circumstances {
        var canSendBody = true
        /// Nanoseconds.
        var timeLeft = Int64.max
        var chance: UInt64 = 0
    }

    enum Action: Equatable {
        /// After so many nanoseconds. `isAsked`: the server said when to come back.
        case retry(after: Int64, isAsked: Bool = false)
        /// It stays at that; nil if there was no question of trying again.
        case settle(NetworkError.RetryRefusal?)
    }

    private let policy: HTTPSession.RetryPolicy
    /// The user says that the server may be asked twice.
    private let mayRepeat: Bool
    private var attempts = 1

    /// `hasKey`: the server can tell a repetition by an idempotency key.
    init(_ policy: HTTPSession.RetryPolicy, hasKey: Bool = false) {
        self.policy = policy
        mayRepeat = hasKey || policy.retriesNonIdempotent
    }

    /// An attempt has ended.
    mutating func ended(_ outcome: Outcome, _ now: Circumstances) -> Action {
        guard isCovered(outcome) else { return .settle(nil) }
        if attempts >= policy.attempts { return .settle(.attemptsSpent) }
        if !isSafe(outcome) { return .settle(.notSafe) }
        if !now.canSendBody { return .settle(.bodyNotReplayable) }
        let asked = retryAfter(outcome)
        if asked > policy.retryAfterLimit.clampedNanoseconds { return .settle(.retryAfterTooLong) }
        let (wait, overflow) = asked.addingReportingOverflow(backoff(now.chance))
        if overflow || wait >= now.timeLeft { return .settle(.deadline) }
        attempts += 1
        return .retry(after: wait, isAsked: asked >= Self.longEnough)
    }

    /// Whether the policy is for this at all.
    func isCovered(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .answered(let status, _, _, _): policy.conditions.contains(.status(status))
        case .failed(.connection, _): policy.conditions.contains(.connectionFailure)
        case .failed(.timeout, _): policy.conditions.contains(.timeout)
        case .failed(.other, _): false
        }
    }

    private func isSafe(_ outcome: Outcome) -> Bool {
        if mayRepeat { return true }
        switch outcome {
        case .answered(let status, let isIdempotent, let isRedirected, _):
            return isIdempotent || !isRedirected && [408, 425, 429].contains(status)
        case .failed(_, let isSafe): return isSafe
        }
    }

    /// What a server must ask for to have named a time: a second. Less is no relief to it.
    private static let longEnough: Int64 = 1_000_000_000

    private func retryAfter(_ outcome: Outcome) -> Int64 {
        if case .answered(_, _, _, let asked?) = outcome { asked } else { 0 }
    }

    /// Before the attempt that follows.
    private func backoff(_ chance: UInt64) -> Int64 {
        let (base, cap) = (policy.base.clampedNanoseconds, policy.cap.clampedNanoseconds)
        var wait = base
        for _ in 1..<attempts where wait < cap { wait = wait > cap / 2 ? cap : wait * 2 }
        switch policy.jitter {
        case .none: return wait
        case .full: return Int64(chance.multipliedFullWidth(by: UInt64(wait) + 1).high)
        }
    }
}

extension RetryMachine.Failure {
    init(_ error: any Error) {
        guard let error = error as? NetworkError else {
            self = .other
            return
        }
        switch error.code {
        case .connectionFailed, .connectionClosed: self = .connection
        case .nameNotResolved: self = error.mayBeResolvedLater ? .connection : .other
        // Who waits for a connection of ours, or for all of it, has waited long enough.
        case .timedOut where error.phase != .pool && error.phase != .total: self = .timeout
        default: self = .other
        }
    }
}

extension NetworkError {
    /// Whether somebody said that there is no such name, or nobody was asked.
    fileprivate var mayBeResolvedLater: Bool {
        guard let cause = underlying as? ResolverError else { return true }
        return cause.kind == .unanswered
    }
}
