/// Names in order of insertion. The queue's owner knows which still count: a name that was inserted again, or removed,
/// leaves its old place behind, with a stamp that is no longer valid.
struct EvictionQueue<Name: Sendable>: Sendable {
    private var places: [(name: Name, stamp: UInt64)] = []
    private var start = 0

    var isEmpty: Bool { start == places.count }
    var count: Int { places.count - start }

    mutating func append(_ name: Name, _ stamp: UInt64) {
        places.append((name, stamp))
    }

    mutating func popFirst() -> (name: Name, stamp: UInt64)? {
        guard start < places.count else { return nil }
        defer {
            start += 1
            if start > 64, start > places.count / 2 { drop() }
        }
        return places[start]
    }

    private mutating func drop() {
        places.removeFirst(start)
        start = 0
    }

    mutating func removeAll(where isGone: (Name, UInt64) -> Bool) {
        drop()
        places.removeAll { isGone($0.name, $0.stamp) }
    }
}
