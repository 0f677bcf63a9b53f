package import DunlinTypes

/// The settings that the owner of a cache decides.
package struct CacheRules: Sendable {
    /// The divisor for a response without an explicit lifetime, whose lifetime is the time since its last change
    /// divided by this (RFC 9111 §4.2.2).
    var heuristicDivisor: Int64 = 10
    /// The longest such lifetime, in seconds: a day.
    var heuristicLimit: Int64 = 86_400
    /// The lifetime of a response that says nothing of it, in seconds; nil for the guess.
    var unsaidLifetime: Int64?
    /// How long a response may have been stale, in seconds, to be served if the origin cannot be reached, without
    /// explicit permission (§4.2.4). `must-revalidate` and `no-cache` forbid it all the same.
    package var staleWhenDisconnected: Int64 = 0
    /// The fields whose values are kept only as hashes.
    package var secretFields: HTTP.SecretFields
    /// The hash function for them. If it returns nil, a response that depends on a secret is not stored.
    package var hashing: Hashing

    package init(secretFields: HTTP.SecretFields = .usual, hashing: @escaping Hashing) {
        self.secretFields = secretFields
        self.hashing = hashing
    }
}
