/// How clients deal with failures.
///
/// The limits of an attempt and of a request are the same for all, since they are the user's: those of .NET (10 and 30
/// seconds) and Envoy (15 seconds for both) are longer than these users wait.
package enum Policy: String, CaseIterable, Sendable {
    /// One attempt.
    case none
    /// Three more at once, each time.
    case naive
    /// The standard resilience handler of Microsoft.Extensions.Http.Resilience with its defaults, by "Build resilient
    /// HTTP apps: Key development patterns", by its source and by that of Polly (RetryConstants,
    /// CircuitBreakerConstants): three retries after 2, 4 and 8 seconds with jitter, or what `Retry-After` says; a
    /// circuit breaker (see `StandardBreaker`). What its jitter draws is not documented: here, half as much more or
    /// less.
    case standard = ".NET"
    /// Envoy's defaults, by "Router" (config/http/http_filters/router_filter) and "Circuit breakers"
    /// (config/cluster/v3/circuit_breaker.proto): with `retry_on: 5xx`, one retry after a random part of 25 ms, and at
    /// most three retries at once. Outlier detection is off unless it is configured.
    case envoy = "Envoy"
    /// Dunlin with DunlinResilience: at most three attempts, backoff from 100 ms with full jitter, one budget, a
    /// breaker and what servers say of their limits.
    case dunlin = "Dunlin"
}
