/// The events that a reader of a trace has not read yet.
///
/// Rules:
/// 1. Events are read in order of arrival. A reader waits if there are none.
/// 2. There is room for `capacity` items. Events beyond that are lost and counted; the reader gets their number where
///    they are missing.
/// 3. After the end the reader gets the remaining events, then nothing.
package struct TraceMachine<Element, Waiter> {
    package enum Item {
        case element(Element)
        case lost(Int)
    }

    package enum Action {
        case none
        case resume(Waiter, Item?)
    }

    private let capacity: Int
    private var items: [Item] = []
    private var position = 0
    private var lost = 0
    private var waiter: Waiter?
    private var isOver = false

    package init(capacity: Int) {
        self.capacity = max(2, capacity)
    }

    private var count: Int { items.count - position }

    package mutating func add(_ element: Element) -> Action {
        if isOver { return .none }
        if let waiter = waiter.take() { return .resume(waiter, .element(element)) }
        // The number of lost events takes room too.
        guard count + (lost > 0 ? 2 : 1) <= capacity else {
            lost += 1
            return .none
        }
        if lost > 0 { items.append(.lost(lost)) }
        lost = 0
        items.append(.element(element))
        return .none
    }

    /// Resumes the reader at once, or when there is an event.
    package mutating func next(_ reader: Waiter) -> Action {
        if position < items.count {
            let item = items[position]
            position += 1
            if position > 64, position * 2 > items.count {
                items.removeFirst(position)
                position = 0
            }
            return .resume(reader, item)
        }
        if lost > 0 {
            defer { lost = 0 }
            return .resume(reader, .lost(lost))
        }
        // There is one reader; a second one at the same time gets nothing.
        if isOver || waiter != nil { return .resume(reader, nil) }
        waiter = reader
        return .none
    }

    package mutating func end() -> Action {
        isOver = true
        return waiter.take().map { .resume($0, nil) } ?? .none
    }
}
