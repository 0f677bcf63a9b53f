internal import DunlinTypes

/// The sites that cookies are kept for, and which of them gives one up first: the one that holds most; of those that
/// hold as many, one that has a cookie which is not secure; of those, the one that was used longest ago.
///
/// A site is a registrable domain: whoever has it has all names below, and so only one share of the store. Neither a
/// change nor a choice looks at more of them than the logarithm of their number.
struct CookieSites: Sendable {
    struct Site: Sendable, HeapItem {
        typealias Indices = [String: Int]
        let name: String
        /// The domains that have cookies.
        var domains: Set<String> = []
        var count = 0
        /// The number of cookies that are not secure.
        var plain = 0
        /// The last use, by a counter.
        var used: UInt64 = 0

        func precedes(_ other: Site) -> Bool {
            if count != other.count { return count > other.count }
            if (plain > 0) != (other.plain > 0) { return plain > 0 }
            return used < other.used
        }
    }

    private var heap = IndexedHeap<Site>()

    var first: Site? { heap.first }

    subscript(name: String) -> Site? { heap[name] }

    /// Changes a site; one without cookies is removed.
    mutating func change(_ name: String, _ change: (inout Site) -> Void) {
        if heap[name] == nil { heap.add(Site(name: name)) }
        let count = heap.change(name) { site in
            change(&site)
            return site.count
        }
        if count == 0 { heap.remove(name) }
    }
}
