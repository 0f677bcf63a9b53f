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

    private struct Kept {
        var totals: Origin
        let number: UInt64
    }

    static let capacity = 256

    private var origins: [HTTP.Origin: Kept] = [:]
    private var lastNumber: UInt64 = 0
    /// The totals of all origins that were forgotten.
    private(set) var others = Origin()

    var kept: [HTTP.Origin: Origin] { origins.mapValues(\.totals) }

    /// What was kept and what was not.
    var sum: Origin {
        var sum = others
        for kept in origins.values { sum.add(kept.totals) }
        return sum
    }

    /// The totals of an origin, which are not kept here any more.
    mutating func take(_ origin: HTTP.Origin) -> Origin {
        origins.removeValue(forKey: origin)?.totals ?? Origin()
    }

    /// Keeps the totals of an origin of which there are none here.
    mutating func keep(_ totals: Origin, of origin: HTTP.Origin) {
        guard totals != Origin() else { return }
        lastNumber += 1
        origins[origin] = Kept(totals: totals, number: lastNumber)
        if origins.count > Self.capacity { forgetOldest() }
    }

    /// An opening ended, to an origin whose totals may be here.
    mutating func note(_ end: OpeningEnd, of origin: HTTP.Origin) {
        var totals = take(origin)
        totals.note(end)
        keep(totals, of: origin)
    }

    /// Forgets half of them at once, so that not every new one costs a search of all.
    private mutating func forgetOldest() {
        let oldestFirst = origins.sorted { $0.value.number < $1.value.number }
        for (origin, kept) in oldestFirst.dropLast(Self.capacity / 2) {
            others.add(kept.totals)
            origins[origin] = nil
        }
    }
}
