internal import DunlinTypes

extension PoolMachine {
    /// Notes that a connection being opened enters a phase.
    mutating func enter(_ phase: OpeningPhase, after previous: OpeningPhase?, _ origin: HTTP.Origin) {
        guard let position = position(of: origin) else { return }
        if let previous { origins[position].opening[previous] -= 1 }
        origins[position].opening[phase] += 1
    }

    /// Notes that an opening ended in this phase. If it failed, it must also be reported gone.
    mutating func endOpening(_ origin: HTTP.Origin, in phase: OpeningPhase, _ end: OpeningEnd) {
        // A closed pool has forgotten its connections and their phases.
        guard let position = position(of: origin) else { return totals.note(end, of: origin) }
        origins[position].opening[phase] -= 1
        origins[position].totals.note(end)
    }

    /// The numbers of each origin, in no order.
    var counts: PoolCounts {
        PoolCounts(
            origins: origins.map { ($0.origin, $0.gauges) }
                + totals.kept.map { ($0.key, HTTP.ConnectionGauges($0.value)) },
            others: HTTP.ConnectionGauges(totals.others))
    }

    /// The sum of all origins.
    var gauges: HTTP.ConnectionGauges {
        var sum = HTTP.ConnectionGauges(totals.sum)
        for pooled in origins { sum += pooled.gauges }
        return sum
    }
}
