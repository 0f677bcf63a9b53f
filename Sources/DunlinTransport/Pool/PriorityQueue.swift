package import DunlinTypes

/// The higher priority first, and within one priority first come, first served.
///
/// One line for each priority that somebody waits with; nearly always that is one.
package struct PriorityQueue<Waiter> {
    /// Where a waiter stands; the lesser is served first.
    package struct Position: Comparable {
        package let priority: HTTP.Priority
        package let number: UInt64

        package init(priority: HTTP.Priority, number: UInt64) {
            self.priority = priority
            self.number = number
        }

        package static func < (left: Position, right: Position) -> Bool {
            left.priority == right.priority ? left.number < right.number : left.priority > right.priority
        }
    }

    /// The highest priority first. Only a line that stands alone may be empty.
    private var lanes: [(priority: HTTP.Priority, line: WaiterQueue<Waiter>)] = []

    package init() {}

    package var isEmpty: Bool { lanes.first?.line.isEmpty ?? true }
    package var count: Int { lanes.reduce(0) { $0 + $1.line.count } }

    /// The turn of who comes next.
    package var first: Position? {
        guard let lane = lanes.first, let number = lane.line.first else { return nil }
        return Position(priority: lane.priority, number: number)
    }

    /// With a number from before it stands where it stood.
    package mutating func append(_ waiter: Waiter, priority: HTTP.Priority, number: UInt64) {
        let index = lanes.firstIndex { $0.priority <= priority } ?? lanes.endIndex
        if index == lanes.endIndex || lanes[index].priority != priority {
            lanes.insert((priority, WaiterQueue()), at: index)
        }
        lanes[index].line.insert(waiter, number: number)
        // The one lane that was kept empty is of another priority.
        if lanes.count == 2 { removeIfEmpty(1 - index) }
    }

    package mutating func popFirst() -> Waiter? {
        guard !lanes.isEmpty, let waiter = lanes[0].line.popFirst() else { return nil }
        removeIfEmpty(0)
        return waiter
    }

    /// Nil if the number is not in the line any more.
    @discardableResult
    package mutating func leave(_ number: UInt64) -> Waiter? {
        for index in lanes.indices {
            guard let waiter = lanes[index].line.leave(number) else { continue }
            removeIfEmpty(index)
            return waiter
        }
        return nil
    }

    /// From now on the number comes with this priority, behind those of its kind that came before it. Means nothing if
    /// it is not in the line any more.
    package mutating func move(_ number: UInt64, to priority: HTTP.Priority) {
        guard let waiter = leave(number) else { return }
        append(waiter, priority: priority, number: number)
    }

    /// The last lane stays, and with it the room it has.
    private mutating func removeIfEmpty(_ index: Int) {
        if lanes.count > 1, lanes[index].line.isEmpty { lanes.remove(at: index) }
    }
}
