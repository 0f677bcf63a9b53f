/// When a breaker opens, for how long, and how it closes again.
package struct BreakerRules: Sendable, Equatable {
    /// At most so many outcomes are looked at, the latest, and none older than `window`.
    package var outcomes = 100
    package var window: Duration = .seconds(30)
    /// Fewer outcomes than these say nothing.
    package var minimum = 20
    /// The share of failures at which the breaker opens.
    package var failureRate = 0.5
    /// A request that takes longer is slow; nil if none is.
    package var slowAfter: Duration?
    /// The share of slow requests at which the breaker opens.
    package var slowRate = 1.0
    /// How long a breaker is open the first time. Each time that it opens again without a success between doubles this,
    /// up to `longestOpen`.
    package var openFor: Duration = .seconds(5)
    package var longestOpen: Duration = .seconds(60)
    /// Rounds of 1, 2, 4, … probes at once, up to so many, must succeed before the breaker closes.
    package var probes = 8

    package init() {}
}
