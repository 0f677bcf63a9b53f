extension HTTPSession {
    /// Whether, when and how often a request that failed has another attempt: see <doc:Retries>.
    ///
    /// ```swift
    /// configuration.retry = .exponential(attempts: 3)
    /// let options = HTTPSession.Options(retry: .never)
    /// ```
    ///
    /// Some requests never have another attempt, whatever a policy says: those that the server may have carried out
    /// already and must not carry out twice, those whose body can be sent once and may have been, those to a server
    /// that is not trusted, those that were refused before they were sent, cancelled or out of time, and those whose
    /// response came whole and cannot be used.
    public struct RetryPolicy: Sendable, Hashable {
        /// A reason for another attempt.
        public enum Condition: Sendable, Hashable {
            /// No connection could be made, or it broke before the response had come.
            case connectionFailure
            /// A phase took too long: any but the wait for a connection of our own. The total time is no reason.
            case timeout
            case status(HTTP.Status)
        }

        /// How much of a wait is left to chance, so that requests that failed together do not come back together.
        public enum Jitter: String, Sendable, Hashable, CaseIterable {
            /// Any time up to the whole wait.
            case full
            /// Always the whole wait.
            case none
        }

        /// How much a session may add to the load of a server in trouble. Retries that the server asked for, by a
        /// `Retry-After` of at least a second, are not counted.
        public enum Budget: Sendable, Hashable {
            case unlimited
            /// So many retries for each request to an origin, on average. Unused retries are saved, up to a hundred.
            /// `floor` of them are there at the beginning, and come back by themselves, one a second.
            case ratio(Double, floor: Int = 10)
        }

        /// How many attempts a request has in all, the first one included.
        public var attempts: Int
        public var conditions: Set<Condition>
        /// The first wait; each one that follows is twice as long, up to `cap`.
        public var base: Duration
        public var cap: Duration
        public var jitter = Jitter.full
        /// The longest `Retry-After` that is waited for; a response that asks for more is delivered. The policy's own
        /// wait is added to it.
        public var retryAfterLimit: Duration = .seconds(60)
        /// Whether methods such as POST have another attempt even if the server may have carried them out. If not, they
        /// have one only where the server is known not to have: nothing was sent, it answered 408, 425 or 429, or it
        /// can recognise a repetition by an `Idempotency-Key`.
        public var retriesNonIdempotent = false
        public var budget: Budget

        init(attempts: Int, _ conditions: Set<Condition>, _ base: Duration, _ cap: Duration, _ budget: Budget) {
            self.attempts = attempts
            self.conditions = conditions
            self.base = base
            self.cap = cap
            self.budget = budget
        }

        /// Waits any time up to `base`, then up to twice as long and so on, but never longer than `cap`.
        public static func exponential(
            attempts: Int, base: Duration = .milliseconds(100), cap: Duration = .seconds(10),
            when conditions: Set<Condition> = .transient, budget: Budget = .ratio(0.2)
        ) -> RetryPolicy {
            RetryPolicy(attempts: attempts, conditions, base, cap, budget)
        }

        /// Waits equally long each time.
        public static func constant(
            attempts: Int, every wait: Duration, when conditions: Set<Condition> = .transient,
            budget: Budget = .ratio(0.2)
        ) -> RetryPolicy {
            var policy = RetryPolicy(attempts: attempts, conditions, wait, wait, budget)
            policy.jitter = .none
            return policy
        }

        /// Every request has one attempt. A request that met a connection which the server was just closing is still
        /// sent again: nothing had been done for it.
        public static let never = RetryPolicy(attempts: 1, [], .zero, .zero, .unlimited)
    }
}

extension Set<HTTPSession.RetryPolicy.Condition> {
    /// The usual temporary failures: connections that fail, phases that take too long, and the statuses by which a
    /// server, or a proxy before it, says that it has no time just now.
    ///
    /// 500 is not among them: it is a defect more often than not, and the next answer would be the same.
    public static var transient: Self {
        [
            .connectionFailure, .timeout, .status(408), .status(425), .status(429), .status(502), .status(503),
            .status(504),
        ]
    }
}

extension HTTPSession.RetryPolicy {
    /// Whether there is ever a second attempt.
    var isSet: Bool { attempts > 1 && !conditions.isEmpty }

    /// What is wrong with the policy; nil if nothing is.
    var problem: String? {
        if attempts < 1 { return "attempts must be at least 1" }
        if base < .zero { return "base must not be negative" }
        if cap < base { return "cap must not be less than base" }
        if retryAfterLimit < .zero { return "retryAfterLimit must not be negative" }
        if case .ratio(let ratio, let floor) = budget {
            guard ratio >= 0, ratio <= 100 else { return "the budget's ratio must lie between 0 and 100" }
            guard floor >= 0, floor <= 1_000_000 else { return "the budget's floor must lie between 0 and a million" }
        }
        return nil
    }
}
