/// Decides whether a call has another attempt, and after which wait.
///
/// Rules:
/// 1. A call has another attempt only for a reason that the policy names, and as often as it says. Errors that would be
///    the same the next time are never a reason: only statuses, failures of connections and phases that took too long
///    are. Of a call that got no credential the reason is what the refresh failed with. An error that the user's code
///    cancelled the call with is none.
/// 2. It must be safe. It is if all methods that were sent are idempotent (RFC 9110 §9.2.2). It is if nothing can have
///    been done: an error says so, or the server answered with 408, 425 or 429, by which it says that it did not take
///    the request up (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4), and no other was sent before that it may have
///    taken up. It is if the user says so.
/// 3. The body must be one that can be sent again.
/// 4. The wait doubles with each attempt, up to the cap; chance decides how much of it is waited. The wait that the
///    server asks for is added to it. If the server asks for more than the policy allows, or the whole outlasts the
///    request, there is no further attempt: the outcome of this one is the request's.
/// 5. An attempt counts as asked for if the server named a time for it, a second away or more: then the server knows
///    that it will come, and when.
/// 6. The machine reads no clock, takes no random number, and knows no budget.
struct RetryMachine {
    enum Outcome: Equatable {
        /// `isIdempotent`: every method that was sent is. `mayHaveWorked`: a request whose method is not, which the
        /// server took up, such as one that was redirected. `retryAfter`: nanoseconds.
        case answered(HTTP.Status, isIdempotent: Bool, mayHaveWorked: Bool = false, retryAfter: Int64? = nil)
        /// `isSafe`: the error says so. `retryAfter`: nanoseconds, of the status beneath.
        case failed(Failure, isSafe: Bool, retryAfter: Int64? = nil)
    }

    enum Failure: Equatable {
        case connection
        case timeout
        /// What a refresh was answered with.
        case status(HTTP.Status)
        /// An outcome without another attempt.
        case other
    }

    /// What the machine must know when an attempt has ended.
    struct Circumstances {
        var canSendBody = true
        /// Nanoseconds.
        var timeLeft = Int64.max
        var chance: UInt64 = 0
    }

    enum Action: Equatable {
        /// Try again after so many nanoseconds. `isAsked`: the server said when to come back.
        case retry(after: Int64, isAsked: Bool = false)
        /// The outcome stays; nil if there was no question of another attempt.
        case settle(NetworkError.RetryRefusal?)
    }

    private let policy: HTTPSession.RetryPolicy
    /// Whether the user allows requests that are not idempotent to be sent twice.
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

    /// Whether the policy names this outcome.
    func isCovered(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .answered(let status, _, _, _): policy.conditions.contains(.status(status))
        case .failed(.connection, _, _): policy.conditions.contains(.connectionFailure)
        case .failed(.timeout, _, _): policy.conditions.contains(.timeout)
        case .failed(.status(let status), _, _): policy.conditions.contains(.status(status))
        case .failed(.other, _, _): false
        }
    }

    private func isSafe(_ outcome: Outcome) -> Bool {
        if mayRepeat { return true }
        switch outcome {
        case .answered(let status, let isIdempotent, let mayHaveWorked, _):
            return isIdempotent || !mayHaveWorked && [408, 425, 429].contains(status)
        case .failed(_, let isSafe, _): return isSafe
        }
    }

    /// The shortest time that a server must name: a second. A shorter one is no relief to it.
    private static let longEnough: Int64 = 1_000_000_000

    private func retryAfter(_ outcome: Outcome) -> Int64 {
        switch outcome {
        case .answered(_, _, _, let asked), .failed(_, _, let asked): asked ?? 0
        }
    }

    /// The wait before the next attempt.
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
        guard let told = error as? NetworkError, !told.isDecided else {
            self = .other
            return
        }
        let (error, isRefresh) = (told.beneathRefresh, told.code == .authenticationFailed)
        switch error.code {
        case .unacceptableStatus where isRefresh: self = error.response.map { .status($0.status) } ?? .other
        // The limits of a refresh are not the request's own.
        case .timedOut where isRefresh && error.phase != .pool: self = .timeout
        case .connectionFailed, .connectionClosed: self = .connection
        // What the client did wrong (4xx) it would do wrong again.
        case .proxyFailed: self = error.response?.status.code ?? 500 < 500 ? .other : .connection
        case .nameNotResolved: self = error.mayBeResolvedLater ? .connection : .other
        // A request that waited too long for a connection of ours, or used up its total time, has waited long enough.
        case .timedOut where error.phase != .pool && error.exceeded != .total: self = .timeout
        default: self = .other
        }
    }
}

extension NetworkError {
    /// Whether a later look-up may succeed, because no name server has answered.
    fileprivate var mayBeResolvedLater: Bool {
        guard let cause = underlying as? ResolverError else { return true }
        return cause.kind == .unanswered
    }
}
