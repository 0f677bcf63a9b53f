public import DunlinTypes

/// How many connections there are, to one origin or in all, and how many requests wait for one.
public struct PoolGauges: Sendable, Hashable {
    public var open = 0
    public var idle = 0
    public var waiting = 0
    /// Since the beginning: connections opened, how often an open one was leased, and openings that failed.
    public var opened = 0
    public var reuses = 0
    public var failed = 0
    /// Those of the open connections that are being opened, by phase.
    public var inResolve = 0
    public var inConnect = 0
    public var inTLS = 0

    init(_ totals: PoolTotals.Origin) {
        (opened, reuses, failed) = (totals.opened, totals.reuses, totals.failed)
    }

    mutating func add(_ other: PoolGauges) {
        open += other.open
        idle += other.idle
        waiting += other.waiting
        opened += other.opened
        reuses += other.reuses
        failed += other.failed
        inResolve += other.inResolve
        inConnect += other.inConnect
        inTLS += other.inTLS
    }
}

/// The same by origin.
public struct PoolCounts: Sendable {
    /// Those that are used and those that were used last, in no order.
    public let origins: [(origin: HTTP.Origin, gauges: PoolGauges)]
    /// What was counted of all earlier origins.
    public let others: PoolGauges
}
