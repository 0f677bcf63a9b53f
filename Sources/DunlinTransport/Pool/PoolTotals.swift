internal import DunlinTypes

/// Keeps what was counted of the origins that no connection and no waiter is there for.
///
/// Rules:
/// 1. An origin that is used again takes its totals along, and brings them back.
/// 2. Only so many origins are kept. Beyond, the totals of those that came back longest ago are added to the others,
///    so that the sum stays right; an origin that is used again after that begins with zeros.
struct PoolTotals {
    /// The totals of one origin, since the beginning.
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

    /// Without a limit of its own, since what is forgotten is added to the others.
    private var origins = RecentValues<HTTP.Origin, Origin>()
    /// The totals of all origins that were forgotten.
    private(set) var others = Origin()

    var kept: some Sequence<(key: HTTP.Origin, value: Origin)> { origins.latestFirst }

    /// What was kept and what was not.
    var sum: Origin {
        var sum = others
        for (_, totals) in kept { sum.add(totals) }
        return sum
    }

    /// The totals of an origin, which are not kept here any more.
    mutating func take(_ origin: HTTP.Origin) -> Origin {
        origins.remove(origin) ?? Origin()
    }

    /// Keeps the totals of an origin of which there are none here.
    mutating func keep(_ totals: Origin, of origin: HTTP.Origin) {
        guard totals != Origin() else { return }
        origins.keep(totals, for: origin)
        guard origins.count > Self.capacity, let oldest = origins.first else { return }
        others.add(oldest.value)
        origins.remove(oldest.key)
    }

    /// An opening ended, to an origin whose totals may be here.
    mutating func note(_ end: OpeningEnd, of origin: HTTP.Origin) {
        var totals = take(origin)
        totals.note(end)
        keep(totals, of: origin)
    }
}
