package import DunlinTypes

/// A queue that serves higher priorities first, and within a priority in order of arrival.
///
/// It has one queue for each priority in use, nearly always a single one.
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

    /// The queues, highest priority first. Only a single queue may be empty.
    private var queues: [(priority: HTTP.Priority, waiters: WaiterQueue<Waiter>)] = []

    package init() {}

    package var isEmpty: Bool { queues.first?.waiters.isEmpty ?? true }
    package var count: Int { queues.reduce(0) { $0 + $1.waiters.count } }

    /// The position of the next waiter.
    package var first: Position? {
        guard let queue = queues.first, let number = queue.waiters.first else { return nil }
        return Position(priority: queue.priority, number: number)
    }

    /// Adds a waiter. One with an earlier number gets its earlier position.
    package mutating func append(_ waiter: Waiter, priority: HTTP.Priority, number: UInt64) {
        let index = queues.firstIndex { $0.priority <= priority } ?? queues.endIndex
        if index == queues.endIndex || queues[index].priority != priority {
            queues.insert((priority, WaiterQueue()), at: index)
        }
        queues[index].waiters.insert(waiter, number: number)
        // The queue that was kept empty has another priority.
        if queues.count == 2 { removeIfEmpty(1 - index) }
    }

    package mutating func popFirst() -> Waiter? {
        guard !queues.isEmpty, let waiter = queues[0].waiters.popFirst() else { return nil }
        removeIfEmpty(0)
        return waiter
    }

    /// Removes a waiter; nil if its number is not in the queue any more.
    @discardableResult
    package mutating func leave(_ number: UInt64) -> Waiter? {
        for index in queues.indices {
            guard let waiter = queues[index].waiters.leave(number) else { continue }
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

    /// Removes an empty queue. The last one stays, to keep its memory.
    private mutating func removeIfEmpty(_ index: Int) {
        if queues.count > 1, queues[index].waiters.isEmpty { queues.remove(at: index) }
    }
}
