internal import DunlinTypes

/// The queue of one origin, which knows for each waiter whether it may reuse a connection.
struct OriginQueue<Waiter> {
    typealias Position = PriorityQueue<Entry>.Position

    struct Entry {
        let waiter: Waiter
        let mayReuse: Bool
        let number: UInt64
        let exceeds: Bool
    }

    private var queue = PriorityQueue<Entry>()
    /// The number of waiters that may not reuse a connection.
    private(set) var openingCount = 0
    /// Those that may open a connection beyond the caps, in order of arrival.
    private var exceeding = WaiterQueue<Void>()

    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }
    /// The position of the next waiter.
    var first: Position? { queue.first }
    /// The number of the first that may open a connection beyond the caps.
    var firstExceeding: UInt64? { exceeding.first }

    mutating func append(
        _ waiter: Waiter, mayReuse: Bool, exceeds: Bool = false, priority: HTTP.Priority, number: UInt64
    ) {
        let entry = Entry(waiter: waiter, mayReuse: mayReuse, number: number, exceeds: exceeds)
        queue.append(entry, priority: priority, number: number)
        if !mayReuse { openingCount += 1 }
        if exceeds { exceeding.insert((), number: number) }
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
        if let entry, entry.exceeds { _ = exceeding.leave(entry.number) }
        return entry
    }
}
