extension NetworkError {
    /// An attempt that was followed by another: its outcome, and the wait before the next one.
    public struct RetriedAttempt: Sendable, Hashable {
        public enum Cause: Sendable, Hashable {
            /// The server answered with this status.
            case status(HTTP.Status)
            case failure(NetworkError.Code, HTTP.Phase?)
        }

        public var cause: Cause
        /// The wait before the next attempt.
        public var wait: Duration
        /// How the attempt's last hop spent its time; nil if the transport does not report it.
        public var lastHop: HTTP.Hop?

        public init(_ cause: Cause, wait: Duration, hop: HTTP.Hop? = nil) {
            self.cause = cause
            self.wait = wait
            self.lastHop = hop
        }
    }
}

extension NetworkError.RetriedAttempt.Cause: CustomStringConvertible {
    public var description: String {
        switch self {
        case .status(let status): "status \(status)"
        case .failure(let code, let phase?): "\(code) in \(phase.rawValue)"
        case .failure(let code, nil): "\(code)"
        }
    }
}

extension NetworkError {
    /// Why a failure that the retry policy covers was not retried.
    public struct RetryRefusal: Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String

        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// What the reason means and what to do about it, for a person.
        public var explanation: String {
            switch self {
            case .attemptsSpent: "the `attempts` that its retry policy allows are used up"
            case .notSafe: "the server may have processed the request; an idempotency key makes it safe to repeat"
            case .bodyNotReplayable: "its body can be sent once only; give the body as bytes, a file or `.replayable`"
            case .retryAfterTooLong:
                "the server asks for a longer wait (Retry-After) than the policy's `retryAfterLimit` allows"
            case .deadline: "`timeouts.total`, or the enclosing `withTimeout`, would be over before the next attempt"
            case .budgetSpent: "the policy's `budget` for retries to this origin is spent; other requests refill it"
            case .notResumable:
                "the server sent no event ID to resume after, and would send again what was delivered; "
                    + "`settings.beginsAnew` allows that"
            default: rawValue
            }
        }

        /// The request had as many attempts as the policy allows.
        public static let attemptsSpent = Self("attemptsSpent")
        /// The server may have carried the request out, and doing that twice may differ from once.
        public static let notSafe = Self("notSafe")
        /// The body can be sent only once, and may have been sent.
        public static let bodyNotReplayable = Self("bodyNotReplayable")
        /// The server asked for a longer wait than the policy allows.
        public static let retryAfterTooLong = Self("retryAfterTooLong")
        /// The next attempt could not begin within the request's total time limit.
        public static let deadline = Self("deadline")
        /// A stream of events cannot be resumed: the server has sent no ID.
        public static let notResumable = Self("notResumable")
        /// Too many requests to this origin have been retried already.
        public static let budgetSpent = Self("budgetSpent")
    }
}
