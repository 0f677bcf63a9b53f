internal import DunlinTypes

/// The higher priority first, and within one priority first come, first served.
///
/// One line for each priority that somebody waits with; nearly always that is one.
struct PriorityLine<Waiter> {
    /// Where a waiter stands; the lesser is served first.
    struct Turn: Comparable {
        let priority: RequestPriority
        let number: UInt64

        static func < (left: Turn, right: Turn) -> Bool {
            left.priority == right.priority ? left.number < right.number : left.priority > right.priority
        }
    }

    /// The highest priority first. Only a line that stands alone may be empty.
    private var lanes: [(priority: RequestPriority, line: WaitingLine<Waiter>)] = []

    var isEmpty: Bool { lanes.first?.line.isEmpty ?? true }

    /// The turn of who comes next.
    var first: Turn? {
        guard let lane = lanes.first, let number = lane.line.first else { return nil }
        return Turn(priority: lane.priority, number: number)
    }

    mutating func append(_ waiter: Waiter, priority: RequestPriority, number: UInt64) {
        let index = lanes.firstIndex { $0.priority <= priority } ?? lanes.endIndex
        if index == lanes.endIndex || lanes[index].priority != priority {
            lanes.insert((priority, WaitingLine()), at: index)
        }
        lanes[index].line.append(waiter, number: number)
        // The one lane that was kept empty is of another priority.
        if lanes.count == 2 { removeIfEmpty(1 - index) }
    }

    mutating func popFirst() -> Waiter? {
        guard !lanes.isEmpty, let waiter = lanes[0].line.popFirst() else { return nil }
        removeIfEmpty(0)
        return waiter
    }

    /// False if the number is not in the line any more.
    mutating func leave(_ number: UInt64) -> Bool {
        for index in lanes.indices where lanes[index].line.leave(number) {
            removeIfEmpty(index)
            return true
        }
        return false
    }

    /// The last lane stays, and with it the room it has.
    private mutating func removeIfEmpty(_ index: Int) {
        if lanes.count > 1, lanes[index].line.isEmpty { lanes.remove(at: index) }
    }
}
