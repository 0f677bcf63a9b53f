extension HTTPSession {
    /// Whether, when and how often a request is tried again: see <doc:Retries>.
    ///
    /// ```swift
    /// configuration.retry = .exponential(attempts: 3)
    /// let options = HTTPSession.Options(retry: .never)
    /// ```
    ///
    /// Never tried again, whatever a policy says: what the server may have done already and may not do twice, a body
    /// that can be sent once and may have been, a server that is not trusted, a request that was refused before it was
    /// sent, cancelled or out of time, and a response that came whole and cannot be used.
    public struct RetryPolicy: Sendable, Hashable {
        /// What may be otherwise the next time.
        public enum Condition: Sendable, Hashable {
            /// No connection came about, or it broke before the response was there.
            case connectionFailure
            /// A phase took too long: any but the wait for a connection of our own, and the request as a whole.
            case timeout
            case status(HTTP.Status)
        }

        /// How much of a wait is left to chance, so that those who failed together do not come back together.
        public enum Jitter: String, Sendable, Hashable, CaseIterable {
            /// All of it: any time up to the whole wait.
            case full
            /// Nothing.
            case none
        }

        /// How much a session adds to the load of a server in trouble. What the server asks for itself, by a
        /// `Retry-After` of at least a second, is not counted.
        public enum Budget: Sendable, Hashable {
            case unlimited
            /// So many retries for each request to an origin, on average. What is not used is saved, up to a hundred.
            /// `floor` of them are there at the beginning, and come back by themselves, one a second.
            case ratio(Double, floor: Int = 10)
        }

        /// How often a request is tried in all, the first time included.
        public var attempts: Int
        public var conditions: Set<Condition>
        /// The first wait; each one that follows is twice as long, up to `cap`.
        public var base: Duration
        public var cap: Duration
        public var jitter = Jitter.full
        /// The longest `Retry-After` that is waited for; the response that asks for more is delivered. What the server
        /// asks for is waited beside the policy's own wait.
        public var retryAfterLimit: Duration = .seconds(60)
        /// Methods such as POST are tried again even if the server may have done what they ask for. Without, only where
        /// it is known not to have: nothing was sent, it answered 408, 425 or 429, or it can tell a repetition by an
        /// `Idempotency-Key`.
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

        /// Waits as long each time.
        public static func constant(
            attempts: Int, every wait: Duration, when conditions: Set<Condition> = .transient,
            budget: Budget = .ratio(0.2)
        ) -> RetryPolicy {
            var policy = RetryPolicy(attempts: attempts, conditions, wait, wait, budget)
            policy.jitter = .none
            return policy
        }

        /// Every request is tried once. A request that met a connection which the server was just closing is still
        /// sent again by itself: nothing had been done for it.
        public static let never = RetryPolicy(attempts: 1, [], .zero, .zero, .unlimited)
    }
}

extension Set<HTTPSession.RetryPolicy.Condition> {
    /// What is usual to pass: connections that fail, phases that take too long, and the statuses by which a server, or
    /// what stands before it, says that it has no time just now.
    ///
    /// 500 is not among them: it is a defect more often than not, which would answer the same again.
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

    /// What is wrong with it.
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
