internal import DunlinTypes

/// Keeps the totals of origins without connections and waiters.
///
/// Rules:
/// 1. An origin that is used again takes its totals with it, and brings them back later.
/// 2. The number of origins is limited. Beyond it, the totals of those that came back longest ago are added to the
///    others, so that the sum stays correct; such an origin begins with zeros when it is used again.
struct PoolTotals {
    /// The totals of one origin since the beginning.
    struct Origin: Equatable {
        var opened = 0
        var reuses = 0
        var failed = 0

        mutating func note(_ end: OpeningEnd) {
            switch end {
            case .opened: opened += 1
            case .failed: failed += 1
            case .cancelled: break
            }
        }

        mutating func add(_ other: Origin) {
            opened += other.opened
            reuses += other.reuses
            failed += other.failed
        }
    }

    static let capacity = 256

    /// Without a limit of its own, since what is removed is added to the others.
    private var origins = RecentValues<HTTP.Origin, Origin>()
    /// The totals of all origins that were forgotten.
    private(set) var others = Origin()

    var kept: some Sequence<(key: HTTP.Origin, value: Origin)> { origins.latestFirst }

    /// The sum of all totals.
    var sum: Origin {
        var sum = others
        for (_, totals) in kept { sum.add(totals) }
        return sum
    }

    /// Takes the totals of an origin out of here.
    mutating func take(_ origin: HTTP.Origin) -> Origin {
        origins.remove(origin) ?? Origin()
    }

    /// Adds the totals of an origin that has none here.
    mutating func keep(_ totals: Origin, of origin: HTTP.Origin) {
        guard totals != Origin() else { return }
        origins.keep(totals, for: origin)
        guard origins.count > Self.capacity, let oldest = origins.first else { return }
        others.add(oldest.value)
        origins.remove(oldest.key)
    }

    /// Notes the end of an opening to an origin whose totals may be here.
    mutating func note(_ end: OpeningEnd, of origin: HTTP.Origin) {
        var totals = take(origin)
        totals.note(end)
        keep(totals, of: origin)
    }
}
