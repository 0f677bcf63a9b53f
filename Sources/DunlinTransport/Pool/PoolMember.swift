internal import DunlinTypes

/// What the pool must know of a connection.
protocol PoolMember {
    var id: UInt64 { get }
    /// The loop it lives on.
    var loop: ObjectIdentifier { get }
    var opened: HTTP.Instant { get }
    /// How many requests it has served.
    var uses: Int { get }
    /// Nanoseconds it may be idle, by what the server said last.
    var idleLimit: Int64 { get }
    /// The TLS generation it was secured by.
    var tlsGeneration: UInt64 { get }
    /// The same of the TLS with a proxy.
    var proxyTLSGeneration: UInt64 { get }
}

extension PoolMember {
    /// No proxy, or none over TLS: there is no generation that could become outdated.
    var proxyTLSGeneration: UInt64 { .max }
}
