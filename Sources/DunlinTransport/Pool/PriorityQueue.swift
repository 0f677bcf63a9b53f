package import DunlinTypes

/// A queue that serves higher priorities first, and within a priority in order of arrival.
///
/// It has one lane for each priority in use, nearly always a single one.
package struct PriorityQueue<Waiter> {
    /// The position of a waiter; a lesser one is served first.
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

    /// The lanes, highest priority first. Only a single lane may be empty.
    private var lanes: [(priority: HTTP.Priority, line: WaiterQueue<Waiter>)] = []

    package init() {}

    package var isEmpty: Bool { lanes.first?.line.isEmpty ?? true }
    package var count: Int { lanes.reduce(0) { $0 + $1.line.count } }

    /// The position of the next waiter.
    package var first: Position? {
        guard let lane = lanes.first, let number = lane.line.first else { return nil }
        return Position(priority: lane.priority, number: number)
    }

    /// Adds a waiter. One with an earlier number gets its earlier position.
    package mutating func append(_ waiter: Waiter, priority: HTTP.Priority, number: UInt64) {
        let index = lanes.firstIndex { $0.priority <= priority } ?? lanes.endIndex
        if index == lanes.endIndex || lanes[index].priority != priority {
            lanes.insert((priority, WaiterQueue()), at: index)
        }
        lanes[index].line.insert(waiter, number: number)
        // The lane that was kept empty has another priority.
        if lanes.count == 2 { removeIfEmpty(1 - index) }
    }

    package mutating func popFirst() -> Waiter? {
        guard !lanes.isEmpty, let waiter = lanes[0].line.popFirst() else { return nil }
        removeIfEmpty(0)
        return waiter
    }

    /// Removes a waiter; nil if its number is not in the queue any more.
    @discardableResult
    package mutating func leave(_ number: UInt64) -> Waiter? {
        for index in lanes.indices {
            guard let waiter = lanes[index].line.leave(number) else { continue }
            removeIfEmpty(index)
            return waiter
        }
        return nil
    }

    /// Changes a number's priority; it is then behind those with the same priority and an earlier number. No effect if
    /// it is not in the queue any more.
    package mutating func move(_ number: UInt64, to priority: HTTP.Priority) {
        guard let waiter = leave(number) else { return }
        append(waiter, priority: priority, number: number)
    }

    /// Removes an empty lane. The last one stays, to keep its memory.
    private mutating func removeIfEmpty(_ index: Int) {
        if lanes.count > 1, lanes[index].line.isEmpty { lanes.remove(at: index) }
    }
}
