/// The sites that cookies are kept for, and which of them gives one up first: the one that holds most; of those that
/// hold as many, one that has a cookie which is not secure; of those, the one that was used longest ago.
///
/// A site is a registrable domain: whoever has it has all names below, and so only one share of the store. A heap with
/// an index, so that neither a change nor a choice looks at more of them than the logarithm of their number.
struct CookieSites: Sendable {
    struct Site: Sendable {
        let name: String
        /// That cookies are kept for.
        var domains: Set<String> = []
        var count = 0
        /// Those that are not secure.
        var plain = 0
        /// Counted, not timed.
        var used: UInt64 = 0

        fileprivate func gives(before other: Site) -> Bool {
            if count != other.count { return count > other.count }
            if (plain > 0) != (other.plain > 0) { return plain > 0 }
            return used < other.used
        }
    }

    private var heap: [Site] = []
    private var places: [String: Int] = [:]
    /// Sites that were compared: what changes and choices cost, in a number that is the same on every machine.
    private(set) var steps = 0

    var first: Site? { heap.first }

    subscript(name: String) -> Site? { places[name].map { heap[$0] } }

    /// A site that holds nothing afterwards is not kept.
    mutating func change(_ name: String, _ change: (inout Site) -> Void) {
        let place = places[name] ?? add(name)
        change(&heap[place])
        if heap[place].count == 0 { remove(at: place) } else { settle(place) }
    }

    private mutating func add(_ name: String) -> Int {
        heap.append(Site(name: name))
        places[name] = heap.count - 1
        return heap.count - 1
    }

    private mutating func remove(at place: Int) {
        let last = heap.count - 1
        swap(place, last)
        places[heap.removeLast().name] = nil
        if place < last { settle(place) }
    }

    private mutating func settle(_ place: Int) {
        var place = place
        while place > 0, precedes(place, (place - 1) / 2) {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        while let child = firstChild(of: place), precedes(child, place) {
            swap(place, child)
            place = child
        }
    }

    private mutating func firstChild(of place: Int) -> Int? {
        let (left, right) = (2 * place + 1, 2 * place + 2)
        guard left < heap.count else { return nil }
        return right < heap.count && precedes(right, left) ? right : left
    }

    private mutating func precedes(_ left: Int, _ right: Int) -> Bool {
        steps += 1
        return heap[left].gives(before: heap[right])
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        places[heap[left].name] = left
        places[heap[right].name] = right
    }
}
