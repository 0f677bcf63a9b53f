extension HTTPSession {
    /// Whether, when and how often a failed request is attempted again: see <doc:Retries>.
    ///
    /// ```swift
    /// configuration.retry = .exponential(attempts: 3)
    /// let options = HTTPSession.Options(retry: .never)
    /// ```
    ///
    /// No policy retries a request that the server may have carried out and must not carry out twice, whose body can be
    /// sent only once and may have been, whose server is not trusted, that was refused before it was sent, cancelled or
    /// out of time, or whose complete response cannot be used.
    public struct RetryPolicy: Sendable, Hashable {
        /// A reason for another attempt.
        public enum Condition: Sendable, Hashable {
            /// No connection could be made, or it broke before the response came.
            case connectionFailure
            /// A phase took too long, except for the wait for a free connection. The total time is not a reason.
            case timeout
            case status(HTTP.Status)
        }

        /// How much of a wait is random, so that requests that failed together do not return together.
        public enum Jitter: String, Sendable, Hashable, CaseIterable {
            /// Any time up to the whole wait.
            case full
            /// Always the whole wait.
            case none
        }

        /// How much a session may add to the load of a server in trouble. A retry that the server asked for, by a
        /// `Retry-After` of at least a second, is counted, too, but not refused.
        public enum Budget: Sendable, Hashable {
            case unlimited
            /// This many retries for each request to an origin that succeeds. Unused ones are saved, up to a hundred.
            /// `floor` retries are available at the beginning, and are regained at one a second.
            case ratio(Double, floor: Int = 10)
        }

        /// The greatest number of attempts, including the first.
        public var attempts: Int
        public var conditions: Set<Condition>
        /// The first wait; each one that follows is twice as long, up to `cap`.
        public var base: Duration
        public var cap: Duration
        public var jitter = Jitter.full
        /// The longest `Retry-After` that is waited for; a response that asks for more is delivered. The policy's own
        /// wait is added to it.
        public var retryAfterLimit: Duration = .seconds(60)
        /// Whether methods such as POST are retried even if the server may have carried them out. If not, they are
        /// retried only if the server is known not to have: nothing was sent, it answered 408, 425 or 429, or it can
        /// recognise a repetition by an `Idempotency-Key`.
        public var retriesNonIdempotent = false
        public var budget: Budget

        init(attempts: Int, _ conditions: Set<Condition>, _ base: Duration, _ cap: Duration, _ budget: Budget) {
            self.attempts = attempts
            self.conditions = conditions
            self.base = base
            self.cap = cap
            self.budget = budget
        }

        /// Retries with random waits: up to `base`, then up to twice as long and so on, but never longer than `cap`.
        public static func exponential(
            attempts: Int, base: Duration = .milliseconds(100), cap: Duration = .seconds(10),
            when conditions: Set<Condition> = .transient, budget: Budget = .ratio(0.2)
        ) -> RetryPolicy {
            RetryPolicy(attempts: attempts, conditions, base, cap, budget)
        }

        /// Retries with equal waits.
        public static func constant(
            attempts: Int, every wait: Duration, when conditions: Set<Condition> = .transient,
            budget: Budget = .ratio(0.2)
        ) -> RetryPolicy {
            var policy = RetryPolicy(attempts: attempts, conditions, wait, wait, budget)
            policy.jitter = .none
            return policy
        }

        /// Allows one attempt. A request that met a connection which the server was just closing is still sent again,
        /// since nothing had been done for it.
        public static let never = RetryPolicy(attempts: 1, [], .zero, .zero, .unlimited)
    }
}

extension Set<HTTPSession.RetryPolicy.Condition> {
    /// The usual temporary failures: connection failures, phases that take too long, and the statuses by which a
    /// server, or a proxy before it, says that it is busy.
    ///
    /// 500 is not included: it usually means a defect, and the next answer would be the same.
    public static var transient: Self {
        [
            .connectionFailure, .timeout, .status(408), .status(425), .status(429), .status(502), .status(503),
            .status(504),
        ]
    }
}

extension HTTPSession.RetryPolicy {
    /// Whether there can be a second attempt.
    var isSet: Bool { attempts > 1 && !conditions.isEmpty }

    /// What is wrong with the policy; nil if nothing.
    var problem: String? {
        if attempts < 1 { return "attempts must be at least 1, not \(attempts)" }
        if base < .zero { return "base must be at least \(Duration.zero), not \(base)" }
        if cap < base { return "cap must be at least base (\(base)), not \(cap)" }
        if retryAfterLimit < .zero {
            return "retryAfterLimit must be at least \(Duration.zero), not \(retryAfterLimit)"
        }
        if case .ratio(let ratio, let floor) = budget {
            guard ratio >= 0, ratio <= 100 else { return "budget: its ratio must be 0 to 100, not \(ratio)" }
            guard floor >= 0, floor <= 1_000_000 else { return "budget: its floor must be 0 to 1000000, not \(floor)" }
        }
        return nil
    }
}
