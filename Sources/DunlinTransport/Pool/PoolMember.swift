internal import DunlinTypes

/// What the pool must know of a connection.
protocol PoolMember {
    var id: UInt64 { get }
    /// The loop that it lives on.
    var loop: ObjectIdentifier { get }
    var opened: HTTP.Instant { get }
    /// The number of requests that it has served.
    var uses: Int { get }
    /// How long it may be idle by the server's latest word, in nanoseconds.
    var idleLimit: Int64 { get }
    /// The TLS generation that secured it.
    var tlsGeneration: UInt64 { get }
    /// The same for the TLS with a proxy.
    var proxyTLSGeneration: UInt64 { get }
}

extension PoolMember {
    /// Without a proxy that uses TLS, there is no generation that could become outdated.
    var proxyTLSGeneration: UInt64 { .max }
}
