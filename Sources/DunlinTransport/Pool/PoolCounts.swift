public import DunlinTypes

/// The gauges of connections by origin.
public struct PoolCounts: Sendable {
    /// The origins that are used and those used last, in no order.
    public let origins: [(origin: HTTP.Origin, gauges: HTTP.ConnectionGauges)]
    /// The totals of all earlier origins.
    public let others: HTTP.ConnectionGauges
}

extension HTTP.ConnectionGauges {
    init(_ totals: PoolTotals.Origin) {
        self.init()
        (opened, reuses, failed) = (totals.opened, totals.reuses, totals.failed)
    }
}
