/// Decides whether a call is attempted again, and after which wait.
///
/// Rules:
/// 1. A call is attempted again only for a reason that the policy names, and as often as it allows. Errors that would
///    recur are never a reason: only statuses, connection failures and phases that took too long are. For a call that
///    got no credential, the reason is the refresh's error.
/// 2. It must be safe. It is if all methods that were sent are idempotent (RFC 9110 §9.2.2); if nothing can have been
///    done, because an error says so, or the server answered 408, 425 or 429, which mean that it did not process the
///    request (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4), and no earlier request may have been processed; or if the
///    user says so.
/// 3. The body must be replayable.
/// 4. The wait doubles with each attempt, up to the cap, and chance decides how much of it is waited. The wait that the
///    server asks for is added. If the server asks for more than the policy allows, or the wait would outlast the
///    request, there is no further attempt, and this one's outcome is the request's.
/// 5. An attempt counts as requested by the server if the server named a time for it, at least a second away: it then
///    knows when the attempt will come.
/// 6. The machine reads no clock, takes no random number, and knows no budget.
struct RetryMachine {
    enum Outcome: Equatable {
        /// The server answered. `isIdempotent`: every method that was sent is. `mayHaveWorked`: a non-idempotent
        /// request may have been processed, such as one that was redirected. `retryAfter`: nanoseconds.
        case answered(HTTP.Status, isIdempotent: Bool, mayHaveWorked: Bool = false, retryAfter: Int64? = nil)
        /// The attempt failed. `isSafe`: the error says that a retry is safe. `retryAfter`: nanoseconds, from the
        /// underlying status.
        case failed(Failure, isSafe: Bool, retryAfter: Int64? = nil)
    }

    enum Failure: Equatable {
        case connection
        case timeout
        /// A refresh was answered with this status.
        case status(HTTP.Status)
        /// A failure that is not retried.
        case other
    }

    /// What the machine must know at the end of an attempt.
    struct Circumstances {
        var canSendBody = true
        /// The time left, in nanoseconds.
        var timeLeft = Int64.max
        var chance: UInt64 = 0
    }

    enum Action: Equatable {
        /// Try again after this many nanoseconds. `isAsked`: the server said when to come back.
        case retry(after: Int64, isAsked: Bool = false)
        /// Keep the outcome; nil if another attempt was not considered.
        case settle(NetworkError.RetryRefusal?)
    }

    private let policy: HTTPSession.RetryPolicy
    /// Whether non-idempotent requests may be sent twice, by the policy or because of an idempotency key.
    private let mayRepeat: Bool
    private var attempts = 1

    /// Creates a machine. `hasKey`: the server can recognise a repetition by an idempotency key.
    init(_ policy: HTTPSession.RetryPolicy, hasKey: Bool = false) {
        self.policy = policy
        mayRepeat = hasKey || policy.retriesNonIdempotent
    }

    /// The action at the end of an attempt.
    mutating func ended(_ outcome: Outcome, _ now: Circumstances) -> Action {
        guard isCovered(outcome) else { return .settle(nil) }
        if attempts >= policy.attempts { return .settle(.attemptsSpent) }
        if !isSafe(outcome) { return .settle(.notSafe) }
        if !now.canSendBody { return .settle(.bodyNotReplayable) }
        let requested = retryAfter(outcome)
        if requested > policy.retryAfterLimit.clampedNanoseconds { return .settle(.retryAfterTooLong) }
        let (wait, overflow) = requested.addingReportingOverflow(backoff(now.chance))
        if overflow || wait >= now.timeLeft { return .settle(.deadline) }
        attempts += 1
        return .retry(after: wait, isAsked: requested >= Self.longEnough)
    }

    /// Whether the policy names this outcome as a reason.
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

    /// The shortest wait, a second, that counts as requested by the server. A shorter one does not relieve it.
    private static let longEnough: Int64 = 1_000_000_000

    private func retryAfter(_ outcome: Outcome) -> Int64 {
        switch outcome {
        case .answered(_, _, _, let requested), .failed(_, _, let requested): requested ?? 0
        }
    }

    /// The policy's wait before the next attempt.
    func backoff(_ chance: UInt64) -> Int64 {
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
        guard let failure = error as? NetworkError, !failure.isLastWord else {
            self = .other
            return
        }
        let (error, isRefresh) = (failure.beneathRefresh, failure.code == .authenticationFailed)
        switch error.code {
        case .unacceptableStatus where isRefresh: self = error.response.map { .status($0.status) } ?? .other
        // The limits of a refresh are not the request's own.
        case .timedOut where isRefresh && error.phase != .pool: self = .timeout
        case .connectionFailed, .connectionClosed: self = .connection
        // The client would repeat its mistake (4xx).
        case .proxyFailed: self = error.response?.status.code ?? 500 < 500 ? .other : .connection
        case .nameNotResolved: self = error.mayBeResolvedLater ? .connection : .other
        // A request that waited too long for one of our connections, or used up its total time, has waited long enough.
        case .timedOut where error.phase != .pool && error.exceeded != .total: self = .timeout
        default: self = .other
        }
    }
}

extension NetworkError {
    /// Whether a later look-up may succeed, because no name server answered.
    fileprivate var mayBeResolvedLater: Bool {
        guard let cause = underlying as? ResolverError else { return true }
        return cause.kind == .unanswered
    }
}
