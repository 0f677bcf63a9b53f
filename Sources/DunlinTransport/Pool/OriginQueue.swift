internal import DunlinTypes

/// The queue of one origin, which knows for each waiter whether it may reuse a connection.
struct OriginQueue<Waiter> {
    typealias Position = PriorityQueue<Entry>.Position

    struct Entry {
        let waiter: Waiter
        let mayReuse: Bool
    }

    private var queue = PriorityQueue<Entry>()
    /// The number of waiters that may not reuse a connection.
    private(set) var openingCount = 0

    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }
    /// The position of the next waiter.
    var first: Position? { queue.first }

    mutating func append(_ waiter: Waiter, mayReuse: Bool, priority: HTTP.Priority, number: UInt64) {
        queue.append(Entry(waiter: waiter, mayReuse: mayReuse), priority: priority, number: number)
        if !mayReuse { openingCount += 1 }
    }

    mutating func popFirst() -> Entry? {
        forget(queue.popFirst())
    }

    /// Removes a waiter; nil if its number is not in the queue any more.
    mutating func leave(_ number: UInt64) -> Entry? {
        forget(queue.leave(number))
    }

    /// Changes a number's priority, unless it is not in the queue any more.
    mutating func move(_ number: UInt64, to priority: HTTP.Priority) {
        queue.move(number, to: priority)
    }

    private mutating func forget(_ entry: Entry?) -> Entry? {
        if entry?.mayReuse == false { openingCount -= 1 }
        return entry
    }
}
