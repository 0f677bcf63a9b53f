/// Names in order of insertion. The queue's owner knows which still count: a name that was inserted again, or removed,
/// leaves its old place behind, with a stamp that is no longer valid.
struct EvictionQueue<Name: Sendable>: Sendable {
    private var entries: [(name: Name, stamp: UInt64)] = []
    private var start = 0

    var isEmpty: Bool { start == entries.count }
    var count: Int { entries.count - start }

    mutating func append(_ name: Name, _ stamp: UInt64) {
        entries.append((name, stamp))
    }

    mutating func popFirst() -> (name: Name, stamp: UInt64)? {
        guard start < entries.count else { return nil }
        defer {
            start += 1
            if start > 64, start > entries.count / 2 { drop() }
        }
        return entries[start]
    }

    private mutating func drop() {
        entries.removeFirst(start)
        start = 0
    }

    mutating func removeAll(where isGone: (Name, UInt64) -> Bool) {
        drop()
        entries.removeAll { isGone($0.name, $0.stamp) }
    }
}
