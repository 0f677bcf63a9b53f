extension HTTPSession {
    /// A request's choice for a setting: its session's, none, or its own value.
    ///
    /// ```swift
    /// let options = HTTPSession.Options(bodyLimit: .none, retry: .exponential(attempts: 2), redirects: .none)
    /// ```
    public enum PerRequest<Value: Sendable>: Sendable {
        /// The session's value.
        case session
        /// No value, whatever the session's: no limit, no policy, no credentials; false for a flag.
        case none
        case value(Value)

        /// The resulting value; nil for none.
        package func resolved(_ session: Value?) -> Value? {
            switch self {
            case .session: session
            case .none: nil
            case .value(let value): value
            }
        }

        /// The request's own value; nil if it has none.
        var own: Value? { resolved(nil) }

        @usableFromInline var isSession: Bool {
            if case .session = self { true } else { false }
        }
    }
}

extension HTTPSession.PerRequest: Equatable where Value: Equatable {}
extension HTTPSession.PerRequest: Hashable where Value: Hashable {}

extension HTTPSession.PerRequest<Duration> {
    public static func seconds(_ seconds: some BinaryInteger) -> Self { .value(.seconds(seconds)) }
    /// A limit in seconds; no limit for NaN, or for more than a hundred years.
    public static func seconds(_ seconds: Double) -> Self {
        seconds < 3e9 ? .value(.seconds(max(0, seconds))) : .none
    }
    public static func milliseconds(_ milliseconds: some BinaryInteger) -> Self {
        .value(.milliseconds(milliseconds))
    }
    public static func minutes(_ minutes: some BinaryInteger) -> Self {
        let (seconds, isTooLong) = Int64(clamping: minutes).multipliedReportingOverflow(by: 60)
        return isTooLong ? .none : .value(.seconds(seconds))
    }

    /// Creates a limit; nil for no limit.
    init(_ duration: Duration?) {
        self = duration.map { .value($0) } ?? .none
    }
}

extension HTTPSession.PerRequest<Int>: ExpressibleByIntegerLiteral {
    public static func bytes(_ count: Int) -> Self { .value(count) }
    public init(integerLiteral count: Int) { self = .value(count) }
}

extension HTTPSession.PerRequest<Bool>: ExpressibleByBooleanLiteral {
    public init(booleanLiteral isOn: Bool) { self = .value(isOn) }
}

extension HTTPSession.PerRequest<HTTPSession.CacheMode> {
    public static var standard: Self { .value(.standard) }
    public static var validating: Self { .value(.validating) }
    public static var reloading: Self { .value(.reloading) }
    public static var preferringStored: Self { .value(.preferringStored) }
    public static var storedOnly: Self { .value(.storedOnly) }
    public static var off: Self { .value(.off) }
}

extension HTTPSession.PerRequest<NetworkInterface.Rules> {
    public static func allow(names: String..., kinds: NetworkInterface.Kind...) -> Self {
        .value(.allow(Set(names), Set(kinds)))
    }
    public static func deny(names: String..., kinds: NetworkInterface.Kind...) -> Self {
        .value(.deny(Set(names), Set(kinds)))
    }
}

extension HTTPSession.PerRequest<HTTPSession.RedirectPolicy> {
    /// Every redirect is delivered unchanged.
    public static var never: Self { .none }
    /// Up to `limit` redirects are followed.
    public static func follow(limit: Int = 20) -> Self { .value(.follow(limit: limit)) }
}

extension HTTPSession.PerRequest<HTTPSession.RetryPolicy> {
    /// The request is attempted once.
    public static var never: Self { .none }

    /// Retries with random waits: up to `base`, then up to twice as long and so on, but never longer than `cap`.
    public static func exponential(
        attempts: Int, base: Duration = .milliseconds(100), cap: Duration = .seconds(10),
        when conditions: Set<HTTPSession.RetryPolicy.Condition> = .transient,
        budget: HTTPSession.RetryPolicy.Budget = .ratio(0.2)
    ) -> Self {
        .value(.exponential(attempts: attempts, base: base, cap: cap, when: conditions, budget: budget))
    }

    /// Retries with equal waits.
    public static func constant(
        attempts: Int, every wait: Duration, when conditions: Set<HTTPSession.RetryPolicy.Condition> = .transient,
        budget: HTTPSession.RetryPolicy.Budget = .ratio(0.2)
    ) -> Self {
        .value(.constant(attempts: attempts, every: wait, when: conditions, budget: budget))
    }
}

extension HTTPSession.PerRequest<HTTP.Credentials> {
    public static func basic(user: String, password: String) -> Self { .value(.basic(user: user, password: password)) }
    public static func bearer(token: String) -> Self { .value(.bearer(token: token)) }
    public static func password(user: String, password: String) -> Self {
        .value(.password(user: user, password: password))
    }
    public static func digest(user: String, password: String) -> Self {
        .value(.digest(user: user, password: password))
    }
}
