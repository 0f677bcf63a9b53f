package import DunlinTypes

/// What is left to the owner of a cache.
package struct CacheRules: Sendable {
    /// Where nothing is said of freshness, it lasts for the time since the last change, divided by this (RFC 9111
    /// §4.2.2).
    package var heuristicDivisor: Int64 = 10
    /// The longest such time, in seconds: a day.
    package var heuristicLimit: Int64 = 86_400
    /// How long a response may have been stale that stands in for an origin nobody can reach, though nothing allows it
    /// by name (§4.2.4). `must-revalidate` and `no-cache` forbid it all the same.
    package var staleWhenDisconnected: Int64 = 0
    /// The fields whose values are kept as hashes only.
    package var secretFields: HTTP.SecretFields
    /// Makes those hashes. Where it makes none, a response that depends on a secret is not stored.
    package var hashing: Hashing

    package init(secretFields: HTTP.SecretFields = .usual, hashing: @escaping Hashing) {
        self.secretFields = secretFields
        self.hashing = hashing
    }
}
