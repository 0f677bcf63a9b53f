public import Dunlin

/// What a session does for servers that are slow, busy or down: limits of rate, a circuit breaker for each origin, a
/// limit for each attempt and retries.
///
/// ```swift
/// configuration.resilience = .standard
/// ```
///
/// Sessions that are made of one configuration share what is learned of servers.
public struct Resilience: Sendable {
    /// The limits of rate. A request waits for all that concern it, one after another.
    public var rates: [RateLimit] = []
    /// Whether a session keeps to what servers say of their limits: `Retry-After`, `RateLimit` and `X-RateLimit`. What
    /// a server says counts for its origin, or for its key, and for no other.
    public var learns = true
    /// How long a request may wait for what a server said; it is refused at once if it would be longer.
    public var longestWait: Duration = .seconds(60)
    /// The circuit breakers; nil for none.
    public var breaker: Breaker? = Breaker()
    /// What has a breaker of its own, and what a server's limits count for: the origin, unless you say otherwise. With
    /// several keys for one origin, such as its tenants, each has its own.
    public var key: @Sendable (RequestHead) -> String = { $0.origin.description } {
        didSet { hasOwnKey = true }
    }
    private(set) var hasOwnKey = false
    /// The longest time for each attempt, for a session that has none (`timeouts.attempt`); nil for none.
    public var attempt: Duration?
    /// The retry policy for a session that has none (`retry`); nil for none.
    public var retry: HTTPSession.RetryPolicy?

    /// Keeps to what servers say, and has breakers.
    public init() {}

    /// What most services want: breakers, the limits that servers tell, ten seconds for each attempt, and three
    /// attempts.
    public static var standard: Resilience {
        var standard = Resilience()
        (standard.attempt, standard.retry) = (.seconds(10), .exponential(attempts: 3))
        return standard
    }
}

extension Resilience {
    /// So many requests in a time. The requests that come faster wait for their turn, by priority and then in order of
    /// arrival.
    public struct RateLimit: Sendable {
        /// The number of requests in each `per`, evenly.
        public var requests: Int
        public var per: Duration
        /// How many may go at once after a pause.
        public var burst: Int
        /// How many may wait. One more is refused with `rateLimited`.
        public var mostWaiting = 1000
        /// How long a request may wait. It is refused at once, with `rateLimited`, if it would be longer.
        public var longestWait: Duration = .seconds(60)
        /// What has a limit of its own. By default all requests have one together.
        public var key: @Sendable (RequestHead) -> String = { _ in "" }

        public init(
            _ requests: Int, per: Duration = .seconds(1), burst: Int = 1,
            key: @escaping @Sendable (RequestHead) -> String = { _ in "" }
        ) {
            (self.requests, self.per, self.burst, self.key) = (requests, per, burst, key)
        }
    }

    /// When requests to a server are refused because those before have failed, and when they are tried again.
    ///
    /// A failure is a status 500, 502, 503 or 504, a connection that failed, and a timeout. A 429, a cancelled request
    /// and an error of the program say nothing of the server.
    public struct Breaker: Sendable, Hashable {
        /// At most so many outcomes count, the latest, and none that is older than `window`.
        public var outcomes = 100
        public var window: Duration = .seconds(30)
        /// With fewer outcomes the breaker stays closed.
        public var minimum = 20
        /// The share of failures at which it opens.
        public var failureRate = 0.5
        /// A request whose head takes longer is slow; nil if none is.
        public var slowAfter: Duration?
        /// The share of slow requests at which it opens.
        public var slowRate = 1.0
        /// How long it is open the first time, and the longest: each time that it opens again doubles the time.
        public var openFor: Duration = .seconds(5)
        public var longestOpen: Duration = .seconds(60)
        /// The most requests at once that try whether the server is well again. They begin with one.
        public var probes = 8

        public init() {}
    }
}

extension HTTPSession.Configuration {
    /// What the session does for servers that are slow, busy or down; nil for nothing.
    ///
    /// Setting it also sets `timeouts.attempt` and `retry`, unless these have other values than it gave them before.
    public var resilience: Resilience? {
        get { (gate as? ResilienceGate)?.settings }
        set {
            let former = resilience
            gate = newValue.map { ResilienceGate($0) }
            if timeouts.attempt == former?.attempt { timeouts.attempt = newValue?.attempt }
            if retry == former?.retry ?? .never { retry = newValue?.retry ?? .never }
        }
    }
}
